-- Workers that hold GPUs and are stalled now: since when, and the last step they told. Names are looked up for those that are
-- found, which are few.
-- Prepared for each in_cluster.
SELECT
    (SELECT name FROM ledger_workspace WHERE id = r.workspace_id), r.name, r.uid, w.name,
    (SELECT name FROM ledger_machine WHERE id = s.machine_id), (SELECT name FROM ledger_pool WHERE id = s.pool_id), ledger_ms(b.since),
    w.step, s.gpus_milli
FROM ledger_span AS s
JOIN ledger_worker AS w ON w.id = s.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
CROSS JOIN LATERAL (SELECT ledger_in_since(w.id, s.category, s.since) AS since) AS b
WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]) AND (NOT %(in_cluster)s OR r.cluster_id = %(cluster)s)
  AND s.until IS NULL AND s.category = 2 AND s.machine_id <> 0
ORDER BY b.since, r.name, w.name, w.id
LIMIT %(limit)s OFFSET %(offset)s;
