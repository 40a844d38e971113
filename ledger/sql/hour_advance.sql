-- The next hour is open.
UPDATE ledger_cluster SET open_hour = ledger_at(%(next)s) WHERE id = %(cluster)s AND open_hour = ledger_at(%(hour)s);
