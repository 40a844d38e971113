-- The roll-up ledger_daypool before the edge, some rows of it.
DELETE FROM ledger_daypool WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_daypool
    WHERE cluster_id = %(cluster)s AND day < ledger_at(%(edge)s)
    ORDER BY day, workspace_id, pool_id, held LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
