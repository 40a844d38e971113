-- The dirty days of a cluster, oldest first, ms.
SELECT ledger_ms(day) FROM ledger_dirtyday WHERE cluster_id = %(cluster)s ORDER BY day;
