-- Alerts that were over before the edge, and of which nothing is left to be told.
DELETE FROM ledger_alert WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_alert AS a
    WHERE cluster_id = %(cluster)s AND resolved_at < ledger_at(%(edge)s)
      AND NOT EXISTS (SELECT FROM ledger_delivery AS d WHERE d.alert_id = a.id)
    ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
