-- Cells that are not yet there, at nothing; their runs are locked by the caller. The workspace of a run never changes.
INSERT INTO ledger_opencell (cluster_id, workspace_id, run_id, machine_id, pool_id)
SELECT %(cluster)s, (SELECT r.workspace_id FROM ledger_run AS r WHERE r.id = d.run_id), run_id, machine_id, pool_id
FROM unnest(%(runs)s::bigint[], %(machines)s::bigint[], %(pools)s::bigint[]) AS d (run_id, machine_id, pool_id)
ORDER BY run_id, machine_id, pool_id
ON CONFLICT DO NOTHING;
