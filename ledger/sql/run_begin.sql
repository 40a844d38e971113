-- When a run's first span began, ms; null: nothing of it was counted.
SELECT ledger_ms(min(s.since)) FROM ledger_span AS s JOIN ledger_worker AS w ON w.id = s.worker_id WHERE w.run_id = %(run)s;
