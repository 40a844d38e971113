-- Buckets that are full again.
DELETE FROM ledger_bucket WHERE until <= clock_timestamp();
