-- The folded state after the last state before an instant.
SELECT d.worker_id, s.folded
FROM unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS d (worker_id, since)
CROSS JOIN LATERAL (
    SELECT folded FROM ledger_state
    WHERE worker_id = d.worker_id AND at < ledger_at(d.since)
    ORDER BY at DESC, attempt DESC, phase DESC, content DESC
    LIMIT 1
) AS s;
