-- Up to when a cluster is counted, and when it was last pruned (since it was made where it never was), ms.
SELECT ledger_ms(counted_until), ledger_ms(coalesce(pruned_at, first_hour)) FROM ledger_cluster WHERE id = %(cluster)s;
