-- A word that fills a gap waits for counts that saw the gap, and they for it.
SELECT pg_advisory_xact_lock(%(space)s, %(cluster)s);
