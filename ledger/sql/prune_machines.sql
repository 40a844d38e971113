-- Machines that nothing kept names and that were not reported since the edge. A wait keeps the last machine in its folded
-- state, in which it has a place that counts from 0.
WITH asked AS MATERIALIZED (
    SELECT m.id FROM ledger_machine AS m
    WHERE m.cluster_id = %(cluster)s AND (%(only)s::bigint[] IS NULL OR m.id = ANY (%(only)s::bigint[]))
      AND NOT EXISTS (SELECT FROM ledger_capacity AS c WHERE c.machine_id = m.id AND c.hour >= ledger_at(%(edge)s))
      AND m.id NOT IN (SELECT machine_id FROM ledger_daymachine WHERE cluster_id = %(cluster)s)
      AND m.id NOT IN (SELECT machine_id FROM ledger_opencell WHERE cluster_id = %(cluster)s)
)
SELECT a.id FROM asked AS a
WHERE NOT EXISTS (SELECT FROM ledger_span AS s WHERE s.machine_id = a.id)
  AND NOT EXISTS (SELECT FROM ledger_state AS s WHERE s.machine_id = a.id OR (s.folded->>%(place)s)::bigint = a.id)
  AND NOT EXISTS (SELECT FROM ledger_hour AS h WHERE h.cluster_id = %(cluster)s AND h.machine_id = a.id)
ORDER BY a.id LIMIT %(limit)s;
