-- Weeks of machines before that of a day.
DELETE FROM ledger_weekmachine WHERE cluster_id = %(cluster)s AND week < date_trunc('week', ledger_at(%(day)s), 'UTC');
