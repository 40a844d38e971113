-- One roll-up of a cluster at a time: the totals of a run are made of all its days.
SELECT pg_advisory_xact_lock(%(space)s, %(cluster)s);
