-- When hours before the edge were revised.
DELETE FROM ledger_revision WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_revision WHERE cluster_id = %(cluster)s AND hour < ledger_at(%(edge)s)
    ORDER BY hour LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
