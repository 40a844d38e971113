-- The dated settings of a cluster, first to last.
SELECT ledger_ms(since), unmeasured_as, readings_expected FROM ledger_clusterrule
WHERE cluster_id = %(cluster)s ORDER BY since;
