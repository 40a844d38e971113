-- What was told, or given up, before the edge.
DELETE FROM ledger_delivery WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_delivery
    WHERE made_at < ledger_at(%(edge)s) AND (sent_at IS NOT NULL OR dead_at IS NOT NULL)
    ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
