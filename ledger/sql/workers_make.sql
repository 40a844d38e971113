-- Workers that were named for the first time; their runs are locked.
INSERT INTO ledger_worker (cluster_id, run_id, name, phase, proven, watched, doing, recent)
SELECT %(cluster)s, run_id, name, 0, false, false, 0, '{}'
FROM unnest(%(runs)s::bigint[], %(names)s::text[]) AS n (run_id, name)
ORDER BY run_id, name
ON CONFLICT DO NOTHING;
