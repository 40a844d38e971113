-- The roll-up ledger_eighthrun before the edge, some rows of it.
DELETE FROM ledger_eighthrun WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_eighthrun
    WHERE cluster_id = %(cluster)s AND eighth < ledger_at(%(edge)s)
    ORDER BY eighth, run_id, pool_id, held LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
