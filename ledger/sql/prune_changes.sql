-- The audit log before an instant, some rows of it.
DELETE FROM ledger_change WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_change WHERE at < ledger_at(%(before)s) ORDER BY at, id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
));
