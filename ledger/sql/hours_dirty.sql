-- The dirty hours of a cluster, oldest first, ms.
SELECT ledger_ms(hour) FROM ledger_dirtyhour WHERE cluster_id = %(cluster)s ORDER BY hour;
