-- GPU time by category, and what of it was held, of clusters, workspaces, machines and pools over the whole hours
-- [start, end), those from `recent` on apart. One snapshot, evaluated at each cluster's clock.
WITH clock AS MATERIALIZED (
    SELECT id, open_hour, ledger_ms(least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour')) - ledger_ms(open_hour) AS elapsed
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
), parts AS (
    SELECT k.id AS cluster_id, p.recent, r.workspace_id, p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
    FROM clock AS k
    CROSS JOIN LATERAL (
        -- Added up before it is asked whose the run is: the rows are many, the runs few.
        SELECT
            run_id, machine_id, pool_id, hour >= ledger_at(%(recent)s) AS recent,
            sum(productive)::bigint AS productive, sum(idle)::bigint AS idle, sum(stalled)::bigint AS stalled, sum(starting)::bigint AS starting, sum(restart)::bigint AS restart, sum(failure)::bigint AS failure, sum(preemption)::bigint AS preemption, sum(waiting)::bigint AS waiting
        FROM ledger_hour
        WHERE cluster_id = k.id AND hour >= ledger_at(%(start)s) AND hour < ledger_at(%(end)s)
        GROUP BY 1, 2, 3, 4
    ) AS p
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE r.workspace_id = ANY (%(workspaces)s::bigint[])
    UNION ALL
    SELECT
        k.id, k.open_hour >= ledger_at(%(recent)s), r.workspace_id, c.machine_id, c.pool_id,
        (c.a_productive + c.g_productive * elapsed)::bigint,
        (c.a_idle + c.g_idle * elapsed)::bigint,
        (c.a_stalled + c.g_stalled * elapsed)::bigint,
        (c.a_starting + c.g_starting * elapsed)::bigint,
        (c.a_restart + c.g_restart * elapsed)::bigint,
        (c.a_failure + c.g_failure * elapsed)::bigint,
        (c.a_preemption + c.g_preemption * elapsed)::bigint,
        (c.a_waiting + c.g_waiting * elapsed)::bigint
    FROM clock AS k
    JOIN ledger_opencell AS c ON c.cluster_id = k.id
    JOIN ledger_run AS r ON r.id = c.run_id
    WHERE r.workspace_id = ANY (%(workspaces)s::bigint[])
      AND k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s)
), cells AS (
    SELECT
        cluster_id, workspace_id, machine_id, pool_id, recent,
        sum(productive)::bigint AS productive, sum(idle)::bigint AS idle, sum(stalled)::bigint AS stalled, sum(starting)::bigint AS starting, sum(restart)::bigint AS restart, sum(failure)::bigint AS failure, sum(preemption)::bigint AS preemption, sum(waiting)::bigint AS waiting
    FROM parts GROUP BY 1, 2, 3, 4, 5
), ledgers AS (
    SELECT
        cluster_id, workspace_id, machine_id, pool_id, recent,
        coalesce(sum(productive), 0)::bigint AS productive, coalesce(sum(idle), 0)::bigint AS idle, coalesce(sum(stalled), 0)::bigint AS stalled, coalesce(sum(starting), 0)::bigint AS starting, coalesce(sum(restart), 0)::bigint AS restart, coalesce(sum(failure), 0)::bigint AS failure, coalesce(sum(preemption), 0)::bigint AS preemption, coalesce(sum(waiting), 0)::bigint AS waiting,
        coalesce(sum(coalesce(productive, 0) + coalesce(idle, 0) + coalesce(stalled, 0) + coalesce(starting, 0) + coalesce(restart, 0) + coalesce(failure, 0) + coalesce(preemption, 0) + coalesce(waiting, 0)) FILTER (WHERE machine_id <> 0), 0)::bigint AS held
    FROM cells
    GROUP BY GROUPING SETS ((cluster_id, recent), (workspace_id, recent), (machine_id, recent), (pool_id, recent))
)
SELECT
    CASE WHEN l.cluster_id IS NOT NULL THEN 'cluster' WHEN l.workspace_id IS NOT NULL THEN 'workspace'
        WHEN l.machine_id IS NOT NULL THEN 'machine' ELSE 'pool' END,
    recent, coalesce(k.name, w.name, m.name, o.name), held, productive, idle, stalled, starting, restart, failure, preemption, waiting
FROM ledgers AS l
LEFT JOIN ledger_cluster AS k ON k.id = l.cluster_id
LEFT JOIN ledger_workspace AS w ON w.id = l.workspace_id
LEFT JOIN ledger_machine AS m ON m.id = l.machine_id
LEFT JOIN ledger_pool AS o ON o.id = l.pool_id
WHERE l.productive + l.idle + l.stalled + l.starting + l.restart + l.failure + l.preemption + l.waiting <> 0;
