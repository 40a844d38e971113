-- Hours whose roll-up is being made: they are clean when that is committed.
DELETE FROM ledger_dirtyhour
WHERE cluster_id = %(cluster)s AND hour >= ledger_at(%(start)s) AND hour < ledger_at(%(end)s);
