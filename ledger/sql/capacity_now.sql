-- The capacity of a cluster now, milli-GPUs, by pool or by machine: what is held of it, free, and down (not ready and not
-- held). `over` is what is held beyond the capacity that was told, so held + free + down = capacity + over. Of
-- the machines that are not ready some are named.
WITH held AS (
    SELECT machine_id, sum(g_productive + g_idle + g_stalled + g_starting + g_restart + g_failure + g_preemption + g_waiting)::bigint AS held
    FROM ledger_opencell WHERE cluster_id = %(cluster)s AND machine_id > 0
    GROUP BY machine_id
), machines AS (
    SELECT
        m.name, m.pool_id, coalesce(m.gpus_milli, 0) AS capacity, coalesce(h.held, 0) AS held,
        CASE WHEN m.ready IS NOT FALSE THEN greatest(coalesce(m.gpus_milli, 0) - coalesce(h.held, 0), 0) ELSE 0 END AS free,
        CASE WHEN m.ready IS FALSE THEN greatest(coalesce(m.gpus_milli, 0) - coalesce(h.held, 0), 0) ELSE 0 END AS down,
        greatest(coalesce(h.held, 0) - coalesce(m.gpus_milli, 0), 0) AS over,
        m.ready IS FALSE AS unready, m.gpus_milli IS NULL AS unsized
    FROM ledger_machine AS m
    LEFT JOIN held AS h ON h.machine_id = m.id
    WHERE m.cluster_id = %(cluster)s OR (m.id = 1 AND h.held > 0)
)
SELECT
    CASE %(by)s WHEN 'machine' THEN m.name ELSE p.name END AS name,
    count(*), sum(m.capacity)::bigint, sum(m.held)::bigint, sum(m.free)::bigint, sum(m.down)::bigint, sum(m.over)::bigint,
    count(*) FILTER (WHERE m.unready), count(*) FILTER (WHERE m.unsized),
    coalesce((array_agg(m.name ORDER BY m.name) FILTER (WHERE m.unready))[:%(named)s], '{}')
FROM machines AS m JOIN ledger_pool AS p ON p.id = m.pool_id
WHERE (%(machine)s = '' OR m.name = %(machine)s) AND (%(pool)s = '' OR p.name = %(pool)s)
  AND (%(names)s::text[] IS NULL OR m.name = ANY (%(names)s::text[]))
GROUP BY 1
ORDER BY 3 DESC, 1;
