-- Twelve workspaces, six pools, and machines of eight GPUs in them.
INSERT INTO ledger_workspace (organization_id, name)
SELECT %(organization)s, 'workspace-' || i FROM generate_series(0, 11) AS i;

INSERT INTO ledger_pool (cluster_id, name) SELECT %(cluster)s, 'pool-' || i FROM generate_series(0, 5) AS i;

INSERT INTO ledger_machine (cluster_id, name, pool_id, gpus_milli, ready)
SELECT %(cluster)s, 'node-' || i, p.id, 8000, true
FROM generate_series(0, %(machines)s - 1) AS i
JOIN ledger_pool AS p ON p.cluster_id = %(cluster)s AND p.name = 'pool-' || i * 6 / %(machines)s;
