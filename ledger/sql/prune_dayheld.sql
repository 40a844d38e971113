-- The roll-up ledger_dayheld before the edge, some rows of it.
DELETE FROM ledger_dayheld WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_dayheld
    WHERE cluster_id = %(cluster)s AND day < ledger_at(%(edge)s)
    ORDER BY day, run_id, pool_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
