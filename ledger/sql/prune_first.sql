-- The first closed hour that is kept of a cluster, ms; null: none is.
SELECT ledger_ms(min(hour)) FROM ledger_hour WHERE cluster_id = %(cluster)s;
