-- How many workers of each workspace hold GPUs and are stalled now.
SELECT o.name, count(s.worker_id)
FROM ledger_workspace AS o
LEFT JOIN (
    ledger_span AS s JOIN ledger_worker AS w ON w.id = s.worker_id JOIN ledger_run AS r ON r.id = w.run_id
) ON r.workspace_id = o.id AND s.until IS NULL AND s.category = %(stalled)s AND s.machine_id <> 0
WHERE o.id = ANY (%(workspaces)s::bigint[])
GROUP BY o.name
ORDER BY o.name;
