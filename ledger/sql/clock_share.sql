-- The clock of a cluster, shared by whatever posts; always the first lock, kept to the end of the transaction.
SELECT pg_advisory_xact_lock_shared(%(space)s, %(cluster)s);
