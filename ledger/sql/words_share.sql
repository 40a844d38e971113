-- What a count reads of words stays as it is until the count is committed.
SELECT pg_advisory_xact_lock_shared(%(space)s, %(cluster)s);
