-- When steps were told before the edge, but the first time in the stay that reaches over it: since then the worker is one
-- that tells. The begin of that stay is a field of the folded state (its place counts from 0).
DELETE FROM ledger_told WHERE ctid = ANY (ARRAY(
    SELECT t.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_told AS t ON t.worker_id = w.id AND t.lower < ledger_at(%(edge)s)
    LEFT JOIN LATERAL (
        SELECT (s.folded->>%(stay)s)::bigint AS since FROM ledger_state AS s
        WHERE s.worker_id = w.id AND s.at < ledger_at(%(edge)s)
        ORDER BY s.at DESC, s.attempt DESC, s.phase DESC, s.content DESC LIMIT 1
    ) AS stay ON true
    WHERE t.upper <= ledger_at(%(edge)s) AND t.lower IS DISTINCT FROM (
        SELECT min(f.lower) FROM ledger_told AS f WHERE f.worker_id = w.id AND f.upper > ledger_at(stay.since)
    )
    ORDER BY t.worker_id, t.lower LIMIT %(limit)s FOR UPDATE OF t SKIP LOCKED
));
