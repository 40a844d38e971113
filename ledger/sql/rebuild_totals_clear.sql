-- The totals of a cluster's runs, which are made again with its days.
DELETE FROM ledger_runtotal WHERE run_id IN (SELECT id FROM ledger_run WHERE cluster_id = %(cluster)s);
