-- The roll-up ledger_eighthmachine before the edge, some rows of it.
DELETE FROM ledger_eighthmachine WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_eighthmachine
    WHERE cluster_id = %(cluster)s AND eighth < ledger_at(%(edge)s)
    ORDER BY eighth, workspace_id, machine_id, pool_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
