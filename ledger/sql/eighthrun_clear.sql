-- The roll-up of a day's eighths as it was.
DELETE FROM ledger_eighthrun
WHERE cluster_id = %(cluster)s AND eighth >= ledger_at(%(day)s) AND eighth < ledger_at(%(day)s) + interval '24 hours';
