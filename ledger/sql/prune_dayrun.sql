-- The days of runs before the edge, some rows of them; the runs, for their totals.
DELETE FROM ledger_dayrun WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_dayrun
    WHERE cluster_id = %(cluster)s AND day < ledger_at(%(edge)s)
    ORDER BY day, run_id, pool_id, held LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))
RETURNING run_id;
