-- Busy flips before the one that is in force at the edge.
DELETE FROM ledger_flip WHERE ctid = ANY (ARRAY(
    SELECT f.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_flip AS f ON f.worker_id = w.id AND f.at < ledger_at(%(edge)s)
    WHERE EXISTS (
        SELECT FROM ledger_flip AS l WHERE l.worker_id = w.id AND l.at > f.at AND l.at <= ledger_at(%(edge)s)
    )
    ORDER BY f.worker_id, f.at LIMIT %(limit)s FOR UPDATE OF f SKIP LOCKED
));
