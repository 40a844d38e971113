-- Weeks of runs before that of the edge, some rows of them.
DELETE FROM ledger_weekrun WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_weekrun
    WHERE cluster_id = %(cluster)s AND week < date_trunc('week', ledger_at(%(edge)s), 'UTC')
    ORDER BY week, run_id, pool_id, held LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
