-- How many attempts failed, and how many stalled, on machines of these names within [start, end).
SELECT
    m.name,
    count(DISTINCT (w.run_id, s.attempt)) FILTER (WHERE s.category = 5),
    count(DISTINCT (w.run_id, s.attempt)) FILTER (WHERE s.category = 2)
FROM ledger_machine AS m
JOIN ledger_span AS s ON s.machine_id = m.id AND s.machine_id > 1 AND s.category IN (2, 4, 5, 6)
JOIN ledger_worker AS w ON w.id = s.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
WHERE m.id > 1 AND m.name = ANY (%(names)s::text[]) AND r.workspace_id = ANY (%(workspaces)s::bigint[])
  AND (%(cluster)s = 0 OR m.cluster_id = %(cluster)s)
  AND s.since < ledger_at(%(end)s) AND (s.until IS NULL OR s.until > ledger_at(%(start)s))
GROUP BY m.name;
