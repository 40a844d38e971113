-- Runs of a cluster, in bounded pages.
SELECT id FROM ledger_run WHERE cluster_id = %(cluster)s AND id > %(after)s ORDER BY id LIMIT %(limit)s;
