-- Workers that are found to be stragglers again.
UPDATE ledger_straggle AS s SET
    seen_at = ledger_at(n.at), confirmed = n.confirmed, step_ms = n.step_ms, gang_ms = n.gang_ms, behind = n.behind
FROM unnest(
    %(workers)s::bigint[], %(ats)s::bigint[], %(steps)s::integer[], %(gangs)s::integer[], %(behind)s::bigint[],
    %(confirmed)s::boolean[]
) AS n (worker_id, at, step_ms, gang_ms, behind, confirmed)
WHERE s.worker_id = n.worker_id AND s.until IS NULL;
