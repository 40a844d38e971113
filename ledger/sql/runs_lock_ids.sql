-- Runs by id, locked in the order of their ids.
SELECT id, has_stalls FROM ledger_run WHERE id = ANY (%(runs)s::bigint[]) ORDER BY id FOR NO KEY UPDATE;
