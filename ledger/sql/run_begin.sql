-- When a run's first span began, ms; null: nothing of it was counted. Of each worker one span is looked up.
SELECT ledger_ms(min(s.since))
FROM ledger_worker AS w
CROSS JOIN LATERAL (SELECT since FROM ledger_span WHERE worker_id = w.id ORDER BY since LIMIT 1) AS s
WHERE w.run_id = %(run)s;
