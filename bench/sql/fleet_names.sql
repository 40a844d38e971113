-- Runs of eight workers, and a machine of eight GPUs for each worker.
INSERT INTO ledger_run (cluster_id, workspace_id, uid, name, kind, "user", outcome, has_stalls)
SELECT %(cluster)s, %(workspace)s, 'run-' || i, 'run-' || i, 'PyTorchJob', 'user-' || i %% 50, '', false
FROM generate_series(0, (%(workers)s - 1) / 8) AS i;

INSERT INTO ledger_pool (cluster_id, name) SELECT %(cluster)s, 'pool-' || i FROM generate_series(0, 3) AS i;

INSERT INTO ledger_machine (cluster_id, name, pool_id, gpus_milli, ready)
SELECT %(cluster)s, 'node-' || i, p.id, 8000, true
FROM generate_series(0, %(workers)s - 1) AS i
JOIN ledger_pool AS p ON p.cluster_id = %(cluster)s AND p.name = 'pool-' || i %% 4;

ANALYZE ledger_run, ledger_machine, ledger_pool;
