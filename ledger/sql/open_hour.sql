-- When the cluster's open hour began, the database's clock, and up to where that was looked at before, ms.
SELECT ledger_ms(open_hour), ledger_ms(clock_timestamp()), ledger_ms(ledger_counted(id))
FROM ledger_cluster WHERE id = %(cluster)s;
