-- Workers that a list names: known from now on, and no longer missing.
INSERT INTO ledger_listing (source_id, worker_id, stored)
SELECT %(source)s, worker, false FROM unnest(%(workers)s::bigint[]) AS worker ORDER BY worker
ON CONFLICT (source_id, worker_id) DO UPDATE SET missing_since = NULL, proof = NULL, stored = false;
