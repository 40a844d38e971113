-- Open cells that differ from what the spans say: milli-GPUs that accrue now, and offsets.
WITH told AS (
    SELECT
        r.workspace_id, w.run_id, s.machine_id, s.pool_id,
        ARRAY[coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 0), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 1), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 2), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 3), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 4), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 5), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 6), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.category = 7), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.unobserved), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.until IS NULL AND s.unobserved AND s.category = 0), 0)]::bigint[] AS g,
        ARRAY[coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 0), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 1), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 2), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 3), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 4), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 5), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 6), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.category = 7), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.unobserved), 0), coalesce(sum(s.gpus_milli * (coalesce(ledger_ms(s.until) - ledger_ms(k.open_hour), 0) - greatest(ledger_ms(s.since) - ledger_ms(k.open_hour), 0))) FILTER (WHERE s.unobserved AND s.category = 0), 0)]::bigint[] AS a
    FROM ledger_cluster AS k
    JOIN ledger_span AS s ON s.cluster_id = k.id AND (s.until IS NULL OR s.until > k.open_hour)
    JOIN ledger_worker AS w ON w.id = s.worker_id
    JOIN ledger_run AS r ON r.id = w.run_id
    WHERE k.id = %(cluster)s
    GROUP BY r.workspace_id, w.run_id, s.machine_id, s.pool_id
), kept AS (
    SELECT
        workspace_id, run_id, machine_id, pool_id,
        ARRAY[g_productive, g_idle, g_stalled, g_starting, g_restart, g_failure, g_preemption, g_waiting, g_unobserved, g_unobserved_productive] AS g,
        ARRAY[a_productive, a_idle, a_stalled, a_starting, a_restart, a_failure, a_preemption, a_waiting, a_unobserved, a_unobserved_productive] AS a
    FROM ledger_opencell WHERE cluster_id = %(cluster)s
)
SELECT
    coalesce(k.run_id, t.run_id), coalesce(k.machine_id, t.machine_id), coalesce(k.pool_id, t.pool_id),
    k.g, t.g, k.a, t.a
FROM kept AS k
FULL JOIN told AS t USING (workspace_id, run_id, machine_id, pool_id)
WHERE (coalesce(k.g, array_fill(0::bigint, ARRAY[10])), coalesce(k.a, array_fill(0::bigint, ARRAY[10])))
    IS DISTINCT FROM (coalesce(t.g, array_fill(0::bigint, ARRAY[10])), coalesce(t.a, array_fill(0::bigint, ARRAY[10])))
ORDER BY 1, 2, 3, coalesce(k.workspace_id, t.workspace_id);
