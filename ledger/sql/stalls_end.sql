-- Progress is back: the stalls that it ends.
UPDATE ledger_stall AS s SET until = ledger_at(n.until)
FROM unnest(%(workers)s::bigint[], %(progress)s::bigint[], %(untils)s::bigint[]) AS n (worker_id, progress_at, until)
WHERE s.worker_id = n.worker_id AND s.progress_at = ledger_at(n.progress_at);
