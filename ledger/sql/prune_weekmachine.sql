-- Weeks of machines before that of the edge, some rows of them.
DELETE FROM ledger_weekmachine WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_weekmachine
    WHERE cluster_id = %(cluster)s AND week < date_trunc('week', ledger_at(%(edge)s), 'UTC')
    ORDER BY week, workspace_id, machine_id, pool_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
