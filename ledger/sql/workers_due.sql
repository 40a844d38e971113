-- Workers that time alone has changed.
SELECT id, ledger_ms(due) FROM ledger_worker
WHERE cluster_id = %(cluster)s AND due <= ledger_at(%(now)s)
ORDER BY due, id;
