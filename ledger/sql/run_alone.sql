-- A run, locked.
SELECT id FROM ledger_run WHERE id = %(run)s FOR NO KEY UPDATE;
