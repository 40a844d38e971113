-- The hours' roll-up of a day as it was.
DELETE FROM ledger_hourpool
WHERE cluster_id = %(cluster)s AND hour >= ledger_at(%(day)s) AND hour < ledger_at(%(day)s) + interval '24 hours';
