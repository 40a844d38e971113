-- GPU time by category, and what of it was held, in one snapshot at each cluster's clock. A row has a column for each figure,
-- as an array: a hundred thousand numbers are told faster so than as rows. Of machines and of places (a pool, of a workspace, in
-- a cluster, held or not) over the whole hours [start, end), those from `recent` on apart. Of the runs that go on: since they
-- were submitted, which is their total over days that are rolled up, less the days of it that have since become dirty, and
-- in their place and after them the closed hours and the open cells.
--
-- What is of closed hours of the window is told in rows of its own, and only where `whole`: it stays as it is while the
-- mark does. A mark is the open hour and the transactions that rolled up the hours before it, for hours that are clean are
-- as they were when they were rolled up; there is none while one is dirty. These hours are many, so they are read once and
-- added up before it is asked whose the run is.
WITH clock AS MATERIALIZED (
    SELECT
        id, name, open_hour, date_trunc('day', open_hour, 'UTC') AS today,
        ledger_ms(least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour')) - ledger_ms(open_hour) AS elapsed
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
), spells AS MATERIALIZED (
    -- The closed hours of the window, parted where the running day begins and at `recent`: what is asked once of a spell
    -- need not be asked of each of its hours.
    SELECT
        k.id AS cluster_id, s.lower, least(s.upper, k.open_hour) AS upper,
        s.lower >= ledger_at(%(recent)s) AS recent, s.lower >= k.today AS today
    FROM clock AS k
    CROSS JOIN LATERAL (VALUES
        (ledger_at(%(start)s), least(ledger_at(%(recent)s), k.today)),
        (greatest(ledger_at(%(start)s), least(ledger_at(%(recent)s), k.today)), greatest(ledger_at(%(recent)s), k.today)),
        (greatest(ledger_at(%(recent)s), k.today), ledger_at(%(end)s))
    ) AS s (lower, upper)
    WHERE %(whole)s
), closed AS MATERIALIZED (
    SELECT s.cluster_id, s.recent, s.today, p.*
    FROM spells AS s
    CROSS JOIN LATERAL (
        SELECT
            run_id, machine_id, pool_id, ledger_sum(productive) AS productive, ledger_sum(idle) AS idle, ledger_sum(stalled) AS stalled, ledger_sum(starting) AS starting, ledger_sum(restart) AS restart, ledger_sum(failure) AS failure, ledger_sum(preemption) AS preemption, ledger_sum(waiting) AS waiting
        FROM ledger_hour
        WHERE cluster_id = s.cluster_id AND hour >= s.lower AND hour < s.upper
          -- the window once more, so that only its months are looked into
          AND hour >= ledger_at(%(start)s) AND hour < ledger_at(%(end)s)
        GROUP BY 1, 2, 3
    ) AS p
), open AS MATERIALIZED (
    SELECT
        k.id AS cluster_id, k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s) AS shown,
        k.open_hour >= ledger_at(%(recent)s) AS recent, c.run_id, c.machine_id, c.pool_id,
        c.g_productive + c.g_idle + c.g_stalled + c.g_starting + c.g_restart + c.g_failure + c.g_preemption + c.g_waiting > 0 AS going,
        (c.a_productive + c.g_productive * k.elapsed)::bigint AS productive,
        (c.a_idle + c.g_idle * k.elapsed)::bigint AS idle,
        (c.a_stalled + c.g_stalled * k.elapsed)::bigint AS stalled,
        (c.a_starting + c.g_starting * k.elapsed)::bigint AS starting,
        (c.a_restart + c.g_restart * k.elapsed)::bigint AS restart,
        (c.a_failure + c.g_failure * k.elapsed)::bigint AS failure,
        (c.a_preemption + c.g_preemption * k.elapsed)::bigint AS preemption,
        (c.a_waiting + c.g_waiting * k.elapsed)::bigint AS waiting
    FROM clock AS k
    CROSS JOIN LATERAL (SELECT * FROM ledger_opencell WHERE cluster_id = k.id OFFSET 0) AS c
), seen AS MATERIALIZED (
    SELECT id, workspace_id, name, uid FROM ledger_run
    WHERE workspace_id = ANY (%(workspaces)s::bigint[])
      AND id = ANY (ARRAY(SELECT run_id FROM closed UNION ALL SELECT run_id FROM open))
), cells AS MATERIALIZED (
    SELECT r.workspace_id, c.*
    FROM (
        SELECT
            true AS closed, p.cluster_id, p.run_id, p.machine_id, p.pool_id, p.machine_id <> 0 AS held, true AS shown, p.recent, p.today,
            p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
        FROM closed AS p
        UNION ALL
        SELECT
            false, p.cluster_id, p.run_id, p.machine_id, p.pool_id, p.machine_id <> 0, p.shown, p.recent, true,
            p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
        FROM open AS p
    ) AS c
    JOIN seen AS r ON r.id = c.run_id
), spent AS MATERIALIZED (
    SELECT
        closed, recent, machine_id, cluster_id, workspace_id, pool_id, held,
        ledger_sum(productive) AS productive, ledger_sum(idle) AS idle, ledger_sum(stalled) AS stalled, ledger_sum(starting) AS starting, ledger_sum(restart) AS restart, ledger_sum(failure) AS failure, ledger_sum(preemption) AS preemption, ledger_sum(waiting) AS waiting
    FROM cells
    WHERE shown
    GROUP BY GROUPING SETS ((closed, recent, machine_id), (closed, recent, cluster_id, workspace_id, pool_id, held))
), going AS MATERIALIZED (
    SELECT id, workspace_id, name, uid FROM seen WHERE id IN (SELECT run_id FROM open WHERE going)
), dirty AS MATERIALIZED (
    SELECT d.cluster_id, d.day, d.day < k.today AS over FROM ledger_dirtyday AS d JOIN clock AS k ON k.id = d.cluster_id
    UNION
    SELECT id, today, false FROM clock
), others AS MATERIALIZED (
    -- Closed hours that are in no roll-up and not in the running day's part of the window.
    SELECT cluster_id, day AS lower, day + interval '24 hours' AS upper FROM dirty WHERE over
    UNION ALL
    SELECT id, today, least(ledger_at(%(start)s), open_hour) FROM clock WHERE today < ledger_at(%(start)s)
    UNION ALL
    SELECT id, greatest(today, ledger_at(%(end)s)), open_hour FROM clock WHERE open_hour > ledger_at(%(end)s)
), parts AS (
    SELECT false AS closed, t.run_id, t.held, t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting
    FROM ledger_runtotal AS t WHERE t.run_id = ANY (ARRAY(SELECT id FROM going))
    UNION ALL
    SELECT closed, run_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting FROM cells WHERE today
    UNION ALL
    SELECT false, p.run_id, p.held, -p.productive, -p.idle, -p.stalled, -p.starting, -p.restart, -p.failure, -p.preemption, -p.waiting
    FROM dirty AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_dayrun AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day OFFSET 0) AS p
    UNION ALL
    SELECT false, p.run_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
    FROM others AS o
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hour AS p
        WHERE p.cluster_id = o.cluster_id AND p.hour >= o.lower AND p.hour < o.upper OFFSET 0
    ) AS p
), runs AS MATERIALIZED (
    SELECT
        closed, run_id, ledger_sum(coalesce(productive, 0) + coalesce(idle, 0) + coalesce(stalled, 0) + coalesce(starting, 0) + coalesce(restart, 0) + coalesce(failure, 0) + coalesce(preemption, 0) + coalesce(waiting, 0)) FILTER (WHERE held) AS held,
        ledger_sum(productive) AS productive, ledger_sum(idle) AS idle, ledger_sum(stalled) AS stalled, ledger_sum(starting) AS starting, ledger_sum(restart) AS restart, ledger_sum(failure) AS failure, ledger_sum(preemption) AS preemption, ledger_sum(waiting) AS waiting
    FROM parts WHERE closed OR run_id IN (SELECT id FROM going) GROUP BY 1, 2
)
SELECT
    'mark', false, false, string_agg(concat_ws(' ', k.id, ledger_ms(k.open_hour), (
        SELECT string_agg(coalesce((
            SELECT p.xmin::text FROM ledger_hourpool AS p WHERE p.cluster_id = k.id AND p.hour = h.hour
            ORDER BY p.workspace_id, p.pool_id, p.held LIMIT 1
        ), '-'), ' ' ORDER BY h.hour)
        FROM generate_series(ledger_at(%(start)s), least(ledger_at(%(end)s), k.open_hour) - interval '1 hour', interval '1 hour') AS h (hour)
    )), ',' ORDER BY k.id), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM clock AS k
HAVING NOT EXISTS (SELECT FROM ledger_dirtyhour AS d JOIN clock AS k ON k.id = d.cluster_id WHERE d.hour >= ledger_at(%(start)s))
   AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d JOIN clock AS k ON k.id = d.cluster_id WHERE d.day + interval '24 hours' > ledger_at(%(start)s))
UNION ALL
SELECT 'named machine', false, false, array_agg(m.id ORDER BY m.id)::text, json_agg(m.name ORDER BY m.id)::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM ledger_machine AS m WHERE m.cluster_id IS NULL OR m.cluster_id IN (SELECT id FROM clock)
UNION ALL
SELECT 'named cluster', false, false, array_agg(k.id ORDER BY k.id)::text, json_agg(k.name ORDER BY k.id)::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM clock AS k
UNION ALL
SELECT 'named workspace', false, false, array_agg(w.id ORDER BY w.id)::text, json_agg(w.name ORDER BY w.id)::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM ledger_workspace AS w WHERE w.id = ANY (%(workspaces)s::bigint[])
UNION ALL
SELECT 'named pool', false, false, array_agg(o.id ORDER BY o.id)::text, json_agg(o.name ORDER BY o.id)::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM ledger_pool AS o WHERE o.cluster_id IS NULL OR o.cluster_id IN (SELECT id FROM clock)
UNION ALL
SELECT 'named run', false, false, array_agg(r.id ORDER BY r.id)::text, json_agg(json_build_array(w.name, r.name, r.uid) ORDER BY r.id)::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM going AS r JOIN ledger_workspace AS w ON w.id = r.workspace_id
UNION ALL
SELECT
    'machine', closed, recent, array_agg(l.machine_id ORDER BY l.machine_id)::text, NULL, NULL,
    array_agg(CASE WHEN l.machine_id <> 0 THEN coalesce(l.productive, 0) + coalesce(l.idle, 0) + coalesce(l.stalled, 0) + coalesce(l.starting, 0) + coalesce(l.restart, 0) + coalesce(l.failure, 0) + coalesce(l.preemption, 0) + coalesce(l.waiting, 0) ELSE 0 END ORDER BY l.machine_id)::text,
    array_agg(coalesce(l.productive, 0) ORDER BY l.machine_id)::text, array_agg(coalesce(l.idle, 0) ORDER BY l.machine_id)::text, array_agg(coalesce(l.stalled, 0) ORDER BY l.machine_id)::text, array_agg(coalesce(l.starting, 0) ORDER BY l.machine_id)::text, array_agg(coalesce(l.restart, 0) ORDER BY l.machine_id)::text, array_agg(coalesce(l.failure, 0) ORDER BY l.machine_id)::text, array_agg(coalesce(l.preemption, 0) ORDER BY l.machine_id)::text, array_agg(coalesce(l.waiting, 0) ORDER BY l.machine_id)::text
FROM spent AS l WHERE l.machine_id IS NOT NULL GROUP BY closed, recent
UNION ALL
SELECT
    'place', closed, recent, array_agg(l.cluster_id ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(l.workspace_id ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(l.pool_id ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text,
    array_agg(CASE WHEN l.held THEN coalesce(l.productive, 0) + coalesce(l.idle, 0) + coalesce(l.stalled, 0) + coalesce(l.starting, 0) + coalesce(l.restart, 0) + coalesce(l.failure, 0) + coalesce(l.preemption, 0) + coalesce(l.waiting, 0) ELSE 0 END ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text,
    array_agg(coalesce(l.productive, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(coalesce(l.idle, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(coalesce(l.stalled, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(coalesce(l.starting, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(coalesce(l.restart, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(coalesce(l.failure, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(coalesce(l.preemption, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text, array_agg(coalesce(l.waiting, 0) ORDER BY l.cluster_id, l.workspace_id, l.pool_id, l.held)::text
FROM spent AS l WHERE l.machine_id IS NULL GROUP BY closed, recent
UNION ALL
SELECT
    'run', closed, false, array_agg(l.run_id ORDER BY l.run_id)::text, NULL, NULL,
    array_agg(coalesce(l.held, 0) ORDER BY l.run_id)::text,
    array_agg(coalesce(l.productive, 0) ORDER BY l.run_id)::text, array_agg(coalesce(l.idle, 0) ORDER BY l.run_id)::text, array_agg(coalesce(l.stalled, 0) ORDER BY l.run_id)::text, array_agg(coalesce(l.starting, 0) ORDER BY l.run_id)::text, array_agg(coalesce(l.restart, 0) ORDER BY l.run_id)::text, array_agg(coalesce(l.failure, 0) ORDER BY l.run_id)::text, array_agg(coalesce(l.preemption, 0) ORDER BY l.run_id)::text, array_agg(coalesce(l.waiting, 0) ORDER BY l.run_id)::text
FROM runs AS l GROUP BY closed;
