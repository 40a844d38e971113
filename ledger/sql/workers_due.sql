-- Workers that time alone has changed: what was ahead has come, or the readings that watch them have run out.
SELECT id, ledger_ms(least(due, CASE WHEN watched THEN covered_to END)) FROM ledger_worker
WHERE cluster_id = %(cluster)s AND (due <= ledger_at(%(now)s) OR (watched AND covered_to <= ledger_at(%(now)s)))
ORDER BY 2, id;
