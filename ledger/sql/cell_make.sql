-- Cells that are not yet there, at nothing; their runs are locked by the caller.
INSERT INTO ledger_opencell (cluster_id, run_id, machine_id, pool_id)
SELECT %(cluster)s, run_id, machine_id, pool_id
FROM unnest(%(runs)s::bigint[], %(machines)s::bigint[], %(pools)s::bigint[]) AS d (run_id, machine_id, pool_id)
ORDER BY run_id, machine_id, pool_id
ON CONFLICT DO NOTHING;
