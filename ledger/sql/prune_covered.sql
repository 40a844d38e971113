-- What readings covered before the edge.
DELETE FROM ledger_covered WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_covered AS c ON c.worker_id = w.id AND c.lower < ledger_at(%(edge)s)
    WHERE c.upper <= ledger_at(%(edge)s)
    ORDER BY c.worker_id, c.lower LIMIT %(limit)s FOR UPDATE OF c SKIP LOCKED
));
