-- Complete ranges that readings cover, as far as they reach over an instant.
SELECT c.worker_id, ledger_ms(c.lower), ledger_ms(c.upper)
FROM unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS d (worker_id, since)
JOIN ledger_covered AS c ON c.worker_id = d.worker_id AND c.upper > ledger_at(d.since);
