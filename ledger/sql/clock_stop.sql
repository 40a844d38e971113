-- The clock of a cluster, for the one that closes its hour.
SELECT pg_advisory_xact_lock(%(space)s, %(cluster)s);
