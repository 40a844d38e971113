-- How many attempts failed, and how many stalled, on these machines within [start, end).
SELECT
    s.machine_id,
    count(DISTINCT (w.run_id, s.attempt)) FILTER (WHERE s.category = 5),
    count(DISTINCT (w.run_id, s.attempt)) FILTER (WHERE s.category = 2)
FROM ledger_span AS s
JOIN ledger_worker AS w ON w.id = s.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
WHERE s.machine_id > 1 AND s.machine_id = ANY (%(machines)s::bigint[]) AND s.category IN (2, 4, 5, 6)
  AND r.workspace_id = ANY (%(workspaces)s::bigint[])
  AND s.since < ledger_at(%(end)s) AND (s.until IS NULL OR s.until > ledger_at(%(start)s))
GROUP BY s.machine_id;
