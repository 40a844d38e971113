-- Workers that are stragglers now, with what their gang holds. Names are looked up for those that are found, which are few.
-- Prepared for each in_cluster, of_run.
SELECT
    (SELECT name FROM ledger_workspace WHERE id = r.workspace_id), r.name, r.uid, w.name,
    (SELECT name FROM ledger_machine WHERE id = s.machine_id), (SELECT name FROM ledger_pool WHERE id = s.pool_id), ledger_ms(t.since),
    w.step, s.gpus_milli, t.step_ms, t.gang_ms, t.behind,
    (
        SELECT sum(g.gpus_milli) FROM ledger_worker AS x JOIN ledger_span AS g ON g.worker_id = x.id AND g.until IS NULL
        WHERE x.run_id = r.id AND g.machine_id <> 0
    )::bigint
FROM ledger_straggle AS t
JOIN ledger_worker AS w ON w.id = t.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
JOIN ledger_span AS s ON s.worker_id = w.id AND s.until IS NULL AND s.machine_id <> 0
WHERE t.until IS NULL AND t.confirmed
  AND r.workspace_id = ANY (%(workspaces)s::bigint[]) AND (NOT %(in_cluster)s OR r.cluster_id = %(cluster)s)
  AND (NOT %(of_run)s OR r.id = %(run)s)
ORDER BY t.step_ms::double precision / greatest(t.gang_ms, 1) DESC, t.since, r.name, w.name, w.id
LIMIT %(limit)s OFFSET %(offset)s;
