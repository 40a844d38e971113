-- GPU time by category, and what of it was held, in one snapshot at each cluster's clock. Of clusters, workspaces, machines and
-- pools: over the whole hours [start, end), and over those of them from `recent` on. Of the runs that go on: since they were
-- submitted, which is their total over days that are rolled up, less the days of it that have since become dirty, and in their
-- place and after them the closed hours and the open cells. The hours are many, so they are read once and added up before it is
-- asked whose the run is. OFFSET 0 keeps each day a look-up by its key.
WITH clock AS MATERIALIZED (
    SELECT
        id, open_hour, date_trunc('day', open_hour, 'UTC') AS today,
        ledger_ms(least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour')) - ledger_ms(open_hour) AS elapsed
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
), closed AS MATERIALIZED (
    SELECT k.id AS cluster_id, p.*
    FROM clock AS k
    CROSS JOIN LATERAL (
        SELECT
            run_id, machine_id, pool_id,
            (hour >= ledger_at(%(start)s) AND hour < ledger_at(%(end)s))::int + (hour >= ledger_at(%(recent)s))::int * 2 + (hour >= k.today)::int * 4 AS sort,
            ledger_sum(productive) AS productive, ledger_sum(idle) AS idle, ledger_sum(stalled) AS stalled, ledger_sum(starting) AS starting, ledger_sum(restart) AS restart, ledger_sum(failure) AS failure, ledger_sum(preemption) AS preemption, ledger_sum(waiting) AS waiting
        FROM ledger_hour
        WHERE cluster_id = k.id AND hour >= least(ledger_at(%(start)s), k.today) AND hour < k.open_hour
        GROUP BY 1, 2, 3, 4
    ) AS p
), seen AS MATERIALIZED (
    SELECT id, workspace_id FROM ledger_run
    WHERE workspace_id = ANY (%(workspaces)s::bigint[]) AND id = ANY (ARRAY(
        SELECT run_id FROM closed UNION ALL SELECT c.run_id FROM ledger_opencell AS c JOIN clock AS k ON k.id = c.cluster_id
    ))
), cells AS MATERIALIZED (
    SELECT
        p.cluster_id, r.workspace_id, p.run_id, p.machine_id, p.pool_id,
        p.sort & 1 > 0 AS shown, p.sort & 2 > 0 AS recent, p.sort & 4 > 0 AS today, false AS going,
        CASE WHEN p.machine_id <> 0 THEN coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0) + coalesce(p.waiting, 0) END AS held,
        p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
    FROM closed AS p
    JOIN seen AS r ON r.id = p.run_id
    UNION ALL
    SELECT
        c.cluster_id, r.workspace_id, c.run_id, c.machine_id, c.pool_id,
        k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s), k.open_hour >= ledger_at(%(recent)s), true,
        c.going, CASE WHEN c.machine_id <> 0 THEN c.productive + c.idle + c.stalled + c.starting + c.restart + c.failure + c.preemption + c.waiting END,
        c.productive, c.idle, c.stalled, c.starting, c.restart, c.failure, c.preemption, c.waiting
    FROM clock AS k
    CROSS JOIN LATERAL (
        SELECT
            cluster_id, run_id, machine_id, pool_id, g_productive + g_idle + g_stalled + g_starting + g_restart + g_failure + g_preemption + g_waiting > 0 AS going,
            (a_productive + g_productive * k.elapsed)::bigint AS productive,
            (a_idle + g_idle * k.elapsed)::bigint AS idle,
            (a_stalled + g_stalled * k.elapsed)::bigint AS stalled,
            (a_starting + g_starting * k.elapsed)::bigint AS starting,
            (a_restart + g_restart * k.elapsed)::bigint AS restart,
            (a_failure + g_failure * k.elapsed)::bigint AS failure,
            (a_preemption + g_preemption * k.elapsed)::bigint AS preemption,
            (a_waiting + g_waiting * k.elapsed)::bigint AS waiting
        FROM ledger_opencell WHERE cluster_id = k.id OFFSET 0
    ) AS c
    JOIN seen AS r ON r.id = c.run_id
), going AS MATERIALIZED (
    SELECT DISTINCT run_id FROM cells WHERE going
), dirty AS MATERIALIZED (
    SELECT d.cluster_id, d.day, d.day < k.today AS over FROM ledger_dirtyday AS d JOIN clock AS k ON k.id = d.cluster_id
    UNION
    SELECT id, today, false FROM clock
), parts AS (
    SELECT t.run_id, t.held, t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting
    FROM ledger_runtotal AS t WHERE t.run_id = ANY (ARRAY(SELECT run_id FROM going))
    UNION ALL
    SELECT p.run_id, p.held, -p.productive, -p.idle, -p.stalled, -p.starting, -p.restart, -p.failure, -p.preemption, -p.waiting
    FROM dirty AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_dayrun AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day OFFSET 0) AS p
    UNION ALL
    SELECT p.run_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
    FROM dirty AS d
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hour AS p
        WHERE p.cluster_id = d.cluster_id AND p.hour >= d.day AND p.hour < d.day + interval '24 hours' OFFSET 0
    ) AS p
    WHERE d.over
    UNION ALL
    SELECT run_id, held IS NOT NULL, productive, idle, stalled, starting, restart, failure, preemption, waiting FROM cells WHERE today
), ledgers AS (
    SELECT
        cluster_id, workspace_id, machine_id, pool_id, NULL::bigint AS run_id,
        ledger_sum(held) AS held, ledger_sum(productive) AS productive, ledger_sum(idle) AS idle, ledger_sum(stalled) AS stalled, ledger_sum(starting) AS starting, ledger_sum(restart) AS restart, ledger_sum(failure) AS failure, ledger_sum(preemption) AS preemption, ledger_sum(waiting) AS waiting,
        ledger_sum(held) FILTER (WHERE recent) AS r_held,
        ledger_sum(productive) FILTER (WHERE recent) AS r_productive,
        ledger_sum(idle) FILTER (WHERE recent) AS r_idle,
        ledger_sum(stalled) FILTER (WHERE recent) AS r_stalled,
        ledger_sum(starting) FILTER (WHERE recent) AS r_starting,
        ledger_sum(restart) FILTER (WHERE recent) AS r_restart,
        ledger_sum(failure) FILTER (WHERE recent) AS r_failure,
        ledger_sum(preemption) FILTER (WHERE recent) AS r_preemption,
        ledger_sum(waiting) FILTER (WHERE recent) AS r_waiting
    FROM cells WHERE shown
    GROUP BY GROUPING SETS ((cluster_id), (workspace_id), (machine_id), (pool_id))
    UNION ALL
    SELECT
        NULL, NULL, NULL, NULL, run_id,
        ledger_sum(coalesce(productive, 0) + coalesce(idle, 0) + coalesce(stalled, 0) + coalesce(starting, 0) + coalesce(restart, 0) + coalesce(failure, 0) + coalesce(preemption, 0) + coalesce(waiting, 0)) FILTER (WHERE held), ledger_sum(productive), ledger_sum(idle), ledger_sum(stalled), ledger_sum(starting), ledger_sum(restart), ledger_sum(failure), ledger_sum(preemption), ledger_sum(waiting),
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM parts WHERE run_id IN (SELECT run_id FROM going)
    GROUP BY run_id
)
SELECT
    CASE WHEN l.cluster_id IS NOT NULL THEN 'cluster' WHEN l.workspace_id IS NOT NULL THEN 'workspace'
        WHEN l.machine_id IS NOT NULL THEN 'machine' WHEN l.pool_id IS NOT NULL THEN 'pool' ELSE 'run' END,
    coalesce(k.name, w.name, m.name, o.name, r.name), r.uid, v.name,
    coalesce(l.held, 0), coalesce(l.productive, 0), coalesce(l.idle, 0), coalesce(l.stalled, 0), coalesce(l.starting, 0), coalesce(l.restart, 0), coalesce(l.failure, 0), coalesce(l.preemption, 0), coalesce(l.waiting, 0),
    coalesce(l.r_held, 0), coalesce(l.r_productive, 0), coalesce(l.r_idle, 0), coalesce(l.r_stalled, 0), coalesce(l.r_starting, 0), coalesce(l.r_restart, 0), coalesce(l.r_failure, 0), coalesce(l.r_preemption, 0), coalesce(l.r_waiting, 0)
FROM ledgers AS l
LEFT JOIN ledger_cluster AS k ON k.id = l.cluster_id
LEFT JOIN ledger_workspace AS w ON w.id = l.workspace_id
LEFT JOIN ledger_machine AS m ON m.id = l.machine_id
LEFT JOIN ledger_pool AS o ON o.id = l.pool_id
LEFT JOIN ledger_run AS r ON r.id = l.run_id
LEFT JOIN ledger_workspace AS v ON v.id = r.workspace_id;
