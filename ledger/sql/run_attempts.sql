-- When each attempt of a run began and ended by the source, µs: from the first to the last time that it held something;
-- null = it still holds.
SELECT s.attempt, ledger_ms(min(s.since)) * 1000,
    CASE WHEN bool_or(s.until IS NULL) THEN NULL ELSE ledger_ms(max(s.until)) * 1000 END
FROM ledger_span AS s JOIN ledger_worker AS w ON w.id = s.worker_id
WHERE w.run_id = %(run)s AND s.machine_id <> 0
GROUP BY s.attempt
ORDER BY s.attempt;
