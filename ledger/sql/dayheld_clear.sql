-- The roll-up of a day as it was.
DELETE FROM ledger_dayheld WHERE cluster_id = %(cluster)s AND day = ledger_at(%(day)s);
