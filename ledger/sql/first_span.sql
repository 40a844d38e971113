-- The begin of a cluster's first span, ms; null: nothing was counted yet.
SELECT ledger_ms(least((SELECT min(since) FROM ledger_span WHERE cluster_id = %(cluster)s),
    (SELECT min(hour) FROM ledger_hour WHERE cluster_id = %(cluster)s)));
