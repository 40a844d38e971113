-- The roll-up of the week of a day as it was.
DELETE FROM ledger_weekrun WHERE cluster_id = %(cluster)s AND week = date_trunc('week', ledger_at(%(day)s), 'UTC');
