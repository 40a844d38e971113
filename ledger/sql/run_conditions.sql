-- What a run's source says of it.
SELECT conditions FROM ledger_run WHERE id = %(run)s;
