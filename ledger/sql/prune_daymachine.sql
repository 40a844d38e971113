-- The roll-up ledger_daymachine before the edge, some rows of it.
DELETE FROM ledger_daymachine WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_daymachine
    WHERE cluster_id = %(cluster)s AND day < ledger_at(%(edge)s)
    ORDER BY day, workspace_id, machine_id, pool_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
