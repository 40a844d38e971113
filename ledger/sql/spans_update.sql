-- Spans that begin when they did and are otherwise now.
UPDATE ledger_span AS s SET
    until = ledger_at(n.until), category = n.category, unobserved = n.unobserved, gpus_milli = n.gpus_milli,
    machine_id = n.machine_id, pool_id = n.pool_id, attempt = n.attempt, source_id = n.source_id
FROM unnest(
    %(workers)s::bigint[], %(sinces)s::bigint[], %(untils)s::bigint[], %(categories)s::smallint[], %(unobserved)s::boolean[],
    %(gpus)s::integer[], %(machines)s::bigint[], %(pools)s::bigint[], %(attempts)s::integer[], %(sources)s::bigint[]
) AS n (worker_id, since, until, category, unobserved, gpus_milli, machine_id, pool_id, attempt, source_id)
WHERE s.worker_id = n.worker_id AND s.since = ledger_at(n.since);
