-- Ranges that are complete; one that begins where another did is the longer of the two.
INSERT INTO ledger_covered AS c (worker_id, lower, upper)
SELECT worker_id, ledger_at(lower), ledger_at(max(upper))
FROM unnest(%(workers)s::bigint[], %(lowers)s::bigint[], %(uppers)s::bigint[]) AS n (worker_id, lower, upper)
GROUP BY worker_id, lower
ORDER BY worker_id, lower
ON CONFLICT (worker_id, lower) DO UPDATE SET upper = greatest(c.upper, EXCLUDED.upper);
