-- Items that were refused before the edge.
DELETE FROM ledger_refused WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_refused WHERE cluster_id = %(cluster)s AND received_at < ledger_at(%(edge)s)
    ORDER BY received_at, id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
