-- Workers that hold GPUs of a cluster now, in the order of their ids after one of them.
SELECT w.id, o.name, r.uid, r.name, w.name, m.name, p.name, s.gpus_milli, w.pod, w.devices
FROM ledger_span AS s
JOIN ledger_worker AS w ON w.id = s.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
JOIN ledger_workspace AS o ON o.id = r.workspace_id
JOIN ledger_machine AS m ON m.id = s.machine_id
JOIN ledger_pool AS p ON p.id = s.pool_id
WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]) AND r.cluster_id = %(cluster)s
  AND s.until IS NULL AND s.machine_id <> 0 AND w.id > %(after)s
ORDER BY w.id
LIMIT %(limit)s;
