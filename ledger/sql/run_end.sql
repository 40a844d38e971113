-- When a run's last span ended, ms; null: one goes on, or there is none.
SELECT CASE WHEN bool_or(s.until IS NULL) THEN NULL ELSE ledger_ms(max(s.until)) END
FROM ledger_span AS s JOIN ledger_worker AS w ON w.id = s.worker_id WHERE w.run_id = %(run)s;
