-- The folded state after each state, where it changed.
UPDATE ledger_state AS s SET folded = n.folded::jsonb
FROM unnest(
    %(workers)s::bigint[], %(ats)s::bigint[], %(attempts)s::integer[], %(phases)s::smallint[], %(contents)s::text[],
    %(folded)s::text[]
) AS n (worker_id, at, attempt, phase, content, folded)
WHERE s.worker_id = n.worker_id AND s.at = ledger_at(n.at) AND s.attempt = n.attempt AND s.phase = n.phase
  AND s.content = n.content;
