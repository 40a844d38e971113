-- The workers of a run: where each is now, in which attempt, and the last step it told.
SELECT
    w.name, w.phase, coalesce(s.category, -1), ledger_ms(s.since), coalesce(s.gpus_milli, 0), coalesce(m.name, ''),
    coalesce(p.name, ''), coalesce(s.attempt, (SELECT max(x.attempt) FROM ledger_span AS x WHERE x.worker_id = w.id), 1),
    w.step, ledger_ms(w.step_at)
FROM ledger_worker AS w
LEFT JOIN ledger_span AS s ON s.worker_id = w.id AND s.until IS NULL
LEFT JOIN ledger_machine AS m ON m.id = s.machine_id
LEFT JOIN ledger_pool AS p ON p.id = s.pool_id
WHERE w.run_id = %(run)s
ORDER BY w.name;
