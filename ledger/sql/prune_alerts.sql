-- Alerts that were over before the edge.
DELETE FROM ledger_alert WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_alert WHERE cluster_id = %(cluster)s AND resolved_at < ledger_at(%(edge)s)
    ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
