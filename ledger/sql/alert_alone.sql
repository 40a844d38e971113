-- One evaluation of a cluster's alerts at a time.
SELECT pg_advisory_xact_lock(%(space)s, %(cluster)s);
