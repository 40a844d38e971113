-- The runs that a day's roll-up knows.
SELECT DISTINCT run_id FROM ledger_dayrun WHERE cluster_id = %(cluster)s AND day = ledger_at(%(day)s);
