-- Proven stalls: no progress since, and the sample that proved it.
INSERT INTO ledger_stall (worker_id, progress_at, proof_at)
SELECT worker_id, ledger_at(progress_at), ledger_at(proof_at)
FROM unnest(%(workers)s::bigint[], %(progress)s::bigint[], %(proofs)s::bigint[]) AS n (worker_id, progress_at, proof_at)
ORDER BY worker_id, progress_at
ON CONFLICT DO NOTHING;
