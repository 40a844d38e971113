-- States before the edge, but the last of each worker: what is folded after it is what later states are folded upon.
DELETE FROM ledger_state WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_state AS s ON s.worker_id = w.id AND s.at < ledger_at(%(edge)s)
    WHERE EXISTS (
        SELECT FROM ledger_state AS l WHERE l.worker_id = w.id AND l.at < ledger_at(%(edge)s)
          AND (l.at, l.attempt, l.phase, l.content) > (s.at, s.attempt, s.phase, s.content)
    )
    ORDER BY s.worker_id, s.at, s.attempt, s.phase, s.content LIMIT %(limit)s FOR UPDATE OF s SKIP LOCKED
));
