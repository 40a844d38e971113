-- The first and the last hour in which the input pipelines of a run told something, ms; null: in none.
SELECT ledger_ms(min(p.hour)), ledger_ms(max(p.hour))
FROM ledger_worker AS w JOIN ledger_pipelinehour AS p ON p.worker_id = w.id
WHERE w.run_id = %(run)s;
