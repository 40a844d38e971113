-- When the cluster's open hour began, and the database's clock, ms.
SELECT ledger_ms(open_hour), ledger_ms(clock_timestamp()) FROM ledger_cluster WHERE id = %(cluster)s;
