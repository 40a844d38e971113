-- The totals of runs as they were.
DELETE FROM ledger_runtotal WHERE run_id = ANY (%(runs)s::bigint[]);
