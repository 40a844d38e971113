-- How many runs of each workspace have a straggler now.
SELECT o.name, count(DISTINCT w.run_id)
FROM ledger_workspace AS o
LEFT JOIN (
    ledger_straggle AS t JOIN ledger_worker AS w ON w.id = t.worker_id JOIN ledger_run AS r ON r.id = w.run_id
    JOIN ledger_span AS s ON s.worker_id = w.id AND s.until IS NULL AND s.machine_id <> 0
) ON r.workspace_id = o.id AND t.until IS NULL AND t.confirmed
WHERE o.id = ANY (%(workspaces)s::bigint[])
GROUP BY o.name
ORDER BY o.name;
