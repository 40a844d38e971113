-- The sources of a cluster.
SELECT id FROM ledger_source WHERE cluster_id = %(cluster)s ORDER BY id;
