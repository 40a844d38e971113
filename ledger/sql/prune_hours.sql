-- Closed hours before the edge, some rows of them.
DELETE FROM ledger_hour AS h USING (
    SELECT cluster_id, hour, run_id, machine_id, pool_id FROM ledger_hour
    WHERE cluster_id = %(cluster)s AND hour < ledger_at(%(edge)s)
    ORDER BY hour, run_id, machine_id, pool_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
) AS d
WHERE h.cluster_id = %(cluster)s AND h.hour = d.hour AND h.run_id = d.run_id AND h.machine_id = d.machine_id
  AND h.pool_id = d.pool_id AND h.hour < ledger_at(%(edge)s);
