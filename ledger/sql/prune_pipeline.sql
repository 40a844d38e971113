-- What input pipelines took in hours before the edge.
DELETE FROM ledger_pipelinehour WHERE ctid = ANY (ARRAY(
    SELECT p.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_pipelinehour AS p ON p.worker_id = w.id AND p.hour < ledger_at(%(edge)s)
    ORDER BY p.worker_id, p.hour LIMIT %(limit)s FOR UPDATE OF p SKIP LOCKED
));
