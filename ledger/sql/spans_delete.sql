-- Spans that are no more.
DELETE FROM ledger_span AS s USING unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS n (worker_id, since)
WHERE s.worker_id = n.worker_id AND s.since = ledger_at(n.since);
