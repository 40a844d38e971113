-- When a run's last span ended, ms; null: one goes on, or there is none. Of each worker one span is looked up: its last.
SELECT CASE WHEN bool_or(s.until IS NULL) THEN NULL ELSE ledger_ms(max(s.until)) END
FROM ledger_worker AS w
CROSS JOIN LATERAL (SELECT until FROM ledger_span WHERE worker_id = w.id ORDER BY since DESC LIMIT 1) AS s
WHERE w.run_id = %(run)s;
