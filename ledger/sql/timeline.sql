-- The spans of a run's workers, or of those named, within [start, end), clipped, up to the cluster's clock; until null =
-- still.
WITH clock AS MATERIALIZED (
    SELECT id, least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour') AS until
    FROM ledger_cluster WHERE id = (SELECT cluster_id FROM ledger_run WHERE id = %(run)s)
)
SELECT
    w.name, ledger_ms(greatest(s.since, ledger_at(%(start)s))),
    CASE WHEN s.until IS NULL AND k.until < ledger_at(%(end)s) THEN NULL
        ELSE ledger_ms(least(s.until, ledger_at(%(end)s))) END,
    s.category, s.unobserved, s.gpus_milli, s.machine_id <> 0, m.name, p.name, s.attempt
FROM ledger_worker AS w
JOIN clock AS k ON k.id = w.cluster_id
JOIN ledger_span AS s ON s.worker_id = w.id
JOIN ledger_machine AS m ON m.id = s.machine_id
JOIN ledger_pool AS p ON p.id = s.pool_id
WHERE w.run_id = %(run)s AND (%(workers)s::bigint[] IS NULL OR w.id = ANY (%(workers)s::bigint[]))
  AND s.since < ledger_at(%(end)s) AND (s.until IS NULL OR s.until > ledger_at(%(start)s))
ORDER BY w.name, s.since
LIMIT %(limit)s;
