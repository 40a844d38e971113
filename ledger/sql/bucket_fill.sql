-- The bucket of a key is full again.
DELETE FROM ledger_bucket WHERE key = %(key)s;
