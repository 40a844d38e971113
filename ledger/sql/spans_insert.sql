-- New spans.
INSERT INTO ledger_span (cluster_id, worker_id, since, until, category, unobserved, gpus_milli, machine_id, pool_id, attempt, source_id)
SELECT
    %(cluster)s, worker_id, ledger_at(since), ledger_at(until), category, unobserved, gpus_milli, machine_id, pool_id,
    attempt, source_id
FROM unnest(
    %(workers)s::bigint[], %(sinces)s::bigint[], %(untils)s::bigint[], %(categories)s::smallint[], %(unobserved)s::boolean[],
    %(gpus)s::integer[], %(machines)s::bigint[], %(pools)s::bigint[], %(attempts)s::integer[], %(sources)s::bigint[]
) AS n (worker_id, since, until, category, unobserved, gpus_milli, machine_id, pool_id, attempt, source_id)
ORDER BY worker_id, since;
