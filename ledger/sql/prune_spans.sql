-- Spans that end at the edge or before it.
DELETE FROM ledger_span WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_span AS s ON s.worker_id = w.id AND s.since < ledger_at(%(edge)s)
    WHERE s.until <= ledger_at(%(edge)s)
    ORDER BY s.worker_id, s.since LIMIT %(limit)s FOR UPDATE OF s SKIP LOCKED
));
