-- The roll-up of the hours [start, end) as it was.
DELETE FROM ledger_hourpool
WHERE cluster_id = %(cluster)s AND hour >= ledger_at(%(start)s) AND hour < ledger_at(%(end)s);
