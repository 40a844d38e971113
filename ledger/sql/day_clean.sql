-- A day whose roll-ups are being made: it is clean when that is committed.
DELETE FROM ledger_dirtyday WHERE cluster_id = %(cluster)s AND day = ledger_at(%(day)s);
