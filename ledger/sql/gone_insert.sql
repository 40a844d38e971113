-- Workers that a source's complete lists lack.
INSERT INTO ledger_gone (worker_id, source_id, at, missing_since, proof)
SELECT worker_id, %(source)s, ledger_at(%(at)s), ledger_at(missing_since), ledger_at(proof)
FROM unnest(%(workers)s::bigint[], %(missing)s::bigint[], %(proofs)s::bigint[]) AS n (worker_id, missing_since, proof)
ORDER BY worker_id
ON CONFLICT DO NOTHING;
