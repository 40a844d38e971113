-- Workers that are found to be stragglers for the first time, on the machine that each is on.
INSERT INTO ledger_straggle (worker_id, machine_id, since, seen_at, until, confirmed, step_ms, gang_ms, behind)
SELECT n.worker_id, coalesce(s.machine_id, 1), ledger_at(n.at), ledger_at(n.at), NULL, false, n.step_ms, n.gang_ms, n.behind
FROM unnest(
    %(workers)s::bigint[], %(ats)s::bigint[], %(steps)s::integer[], %(gangs)s::integer[], %(behind)s::bigint[]
) AS n (worker_id, at, step_ms, gang_ms, behind)
LEFT JOIN ledger_span AS s ON s.worker_id = n.worker_id AND s.until IS NULL
ORDER BY n.worker_id
ON CONFLICT DO NOTHING;
