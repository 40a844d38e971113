-- One back into the bucket of a key.
UPDATE ledger_bucket SET spent = spent - 1 WHERE key = %(key)s AND spent > 0;
