-- A page of a cluster's workers.
SELECT id FROM ledger_worker WHERE cluster_id = %(cluster)s AND id > %(after)s ORDER BY id LIMIT %(limit)s;
