-- The workers of a run: where each is now and since when, in which attempt, and the last step it told. A gang's workers are
-- many: only of one whose span before was of the same category, and ended as this one began, more is asked.
SELECT
    w.name, w.phase, coalesce(s.category, -1),
    ledger_ms(CASE WHEN (
        SELECT b.until = s.since AND b.category = s.category
        FROM ledger_span AS b WHERE b.worker_id = w.id AND b.since < s.since ORDER BY b.since DESC LIMIT 1
    ) THEN ledger_in_since(w.id, s.category, s.since) ELSE s.since END), coalesce(s.gpus_milli, 0), coalesce(m.name, ''),
    coalesce(p.name, ''), coalesce(s.attempt, (SELECT max(x.attempt) FROM ledger_span AS x WHERE x.worker_id = w.id), 1),
    w.step, ledger_ms(w.step_at)
FROM ledger_worker AS w
LEFT JOIN ledger_span AS s ON s.worker_id = w.id AND s.until IS NULL
LEFT JOIN ledger_machine AS m ON m.id = s.machine_id
LEFT JOIN ledger_pool AS p ON p.id = s.pool_id
WHERE w.run_id = %(run)s
ORDER BY w.name;
