-- Stragglers that were none any more before the edge.
DELETE FROM ledger_straggle WHERE ctid = ANY (ARRAY(
    SELECT t.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_straggle AS t ON t.worker_id = w.id AND t.until <= ledger_at(%(edge)s)
    ORDER BY t.worker_id, t.since LIMIT %(limit)s FOR UPDATE OF t SKIP LOCKED
));
