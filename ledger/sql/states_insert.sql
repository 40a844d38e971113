-- States as a set: those that are there already come back as nothing.
INSERT INTO ledger_state (
    cluster_id, worker_id, at, attempt, phase, content, reason, gpus_milli, machine_id, pool_id, stalled, source_id
)
SELECT
    %(cluster)s, worker_id, ledger_at(at), attempt, phase, content, reason, gpus_milli, machine_id, pool_id, stalled,
    %(source)s
FROM unnest(
    %(workers)s::bigint[], %(ats)s::bigint[], %(attempts)s::integer[], %(phases)s::smallint[], %(contents)s::text[],
    %(reasons)s::text[], %(gpus)s::integer[], %(machines)s::bigint[], %(pools)s::bigint[], %(stalled)s::boolean[]
) AS n (worker_id, at, attempt, phase, content, reason, gpus_milli, machine_id, pool_id, stalled)
ORDER BY worker_id, at, attempt, phase, content
ON CONFLICT DO NOTHING
RETURNING worker_id, ledger_ms(at);
