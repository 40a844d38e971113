-- Up to when a cluster is counted, ms.
SELECT ledger_ms(least(greatest(clock_timestamp(), ledger_counted(id)), open_hour + interval '1 hour'))
FROM ledger_cluster WHERE id = %(cluster)s;
