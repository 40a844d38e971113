-- From when on the last usable reading is busy, or idle.
INSERT INTO ledger_flip (worker_id, at, busy)
SELECT worker_id, ledger_at(at), busy
FROM unnest(%(workers)s::bigint[], %(ats)s::bigint[], %(busy)s::boolean[]) AS n (worker_id, at, busy)
ORDER BY worker_id, at
ON CONFLICT DO NOTHING;
