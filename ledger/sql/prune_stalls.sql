-- Proven stalls that do not reach over the edge.
DELETE FROM ledger_stall WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_stall AS s ON s.worker_id = w.id AND s.progress_at < ledger_at(%(edge)s)
    WHERE s.until <= ledger_at(%(edge)s)
    ORDER BY s.worker_id, s.progress_at LIMIT %(limit)s FOR UPDATE OF s SKIP LOCKED
));
