-- Closed hours before the edge, some rows of them. Found once and kept: a plan that asked the inner side again for each
-- outer row would skip what it holds locked itself and find more. (A ctid names no row over several partitions.)
WITH old AS MATERIALIZED (
    SELECT hour, run_id, machine_id, pool_id FROM ledger_hour
    WHERE cluster_id = %(cluster)s AND hour < ledger_at(%(edge)s)
    ORDER BY hour, run_id, machine_id, pool_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM ledger_hour AS h USING old AS d
WHERE h.cluster_id = %(cluster)s AND h.hour = d.hour AND h.run_id = d.run_id AND h.machine_id = d.machine_id
  AND h.pool_id = d.pool_id AND h.hour < ledger_at(%(edge)s);
