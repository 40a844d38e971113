-- The stored spans from the one that an instant lies in, or follows, on.
SELECT
    s.worker_id, ledger_ms(s.since), ledger_ms(s.until), s.category, s.unobserved, s.gpus_milli, s.machine_id, s.pool_id,
    s.attempt, s.source_id
FROM unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS d (worker_id, since)
JOIN ledger_span AS s ON s.worker_id = d.worker_id AND s.since >= coalesce(
    (SELECT max(x.since) FROM ledger_span AS x WHERE x.worker_id = d.worker_id AND x.since < ledger_at(d.since)),
    '-infinity'
)
ORDER BY s.worker_id, s.since;
