-- Workers that hold GPUs and are stalled now: since when, and the last step they told.
SELECT
    o.name, r.name, r.uid, w.name, m.name, p.name, ledger_ms(b.since), w.step, s.gpus_milli
FROM ledger_span AS s
JOIN ledger_worker AS w ON w.id = s.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
JOIN ledger_workspace AS o ON o.id = r.workspace_id
JOIN ledger_machine AS m ON m.id = s.machine_id
JOIN ledger_pool AS p ON p.id = s.pool_id
CROSS JOIN LATERAL (SELECT ledger_in_since(w.id, s.category, s.since) AS since) AS b
WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]) AND (%(cluster)s = 0 OR r.cluster_id = %(cluster)s)
  AND s.until IS NULL AND s.category = %(stalled)s AND s.machine_id <> 0
ORDER BY b.since, r.name, w.name, w.id
LIMIT %(limit)s OFFSET %(offset)s;
