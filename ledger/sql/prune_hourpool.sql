-- The roll-up ledger_hourpool before the edge, some rows of it.
DELETE FROM ledger_hourpool WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_hourpool
    WHERE cluster_id = %(cluster)s AND hour < ledger_at(%(edge)s)
    ORDER BY hour, workspace_id, pool_id, held LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
