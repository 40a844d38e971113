-- What GPU time held cost, by a grouping and in all, over the whole hours [start, end), by ISO week if asked, evaluated at
-- `until`: sums of GPU-microseconds × the price of the day in millionths a GPU-hour, and the GPU time that has no price.
-- Parts: day roll-ups where one has all that is asked, closed hours for the rest, open cells; time held only.
-- A day of some hundred GPUs times a price is beyond a bigint: products are numeric.
WITH clock AS MATERIALIZED (
    SELECT id, open_hour, ledger_at(%(until)s) AS until
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(seen)s::bigint[]))
      AND (%(clusters)s::bigint[] IS NULL OR id = ANY (%(clusters)s::bigint[]))
), prices AS MATERIALIZED (
    SELECT p.pool_id, p.since, lead(p.since, 1, 'infinity') OVER (PARTITION BY p.pool_id ORDER BY p.since) AS before, p.micros
    FROM ledger_price AS p
    JOIN ledger_pool AS o ON o.id = p.pool_id
    JOIN clock AS k ON k.id = o.cluster_id
), days AS MATERIALIZED (
    SELECT k.id AS cluster_id, day
    FROM clock AS k, generate_series(
        date_trunc('day', ledger_at(%(start)s) + interval '24 hours' - interval '1 microsecond', 'UTC'),
        least(date_trunc('day', ledger_at(%(end)s), 'UTC'), date_trunc('day', k.open_hour, 'UTC')) - interval '24 hours',
        interval '24 hours'
    ) AS day
    WHERE %(rollup)s <> ''
      AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = day.day)
), hours AS MATERIALIZED (
    SELECT k.id AS cluster_id, hour
    FROM clock AS k, generate_series(
        ledger_at(%(start)s), least(ledger_at(%(end)s), k.open_hour) - interval '1 hour', interval '1 hour'
    ) AS hour
    WHERE NOT EXISTS (SELECT FROM days AS d WHERE d.cluster_id = k.id AND d.day = date_trunc('day', hour.hour, 'UTC'))
), parts AS (
    SELECT d.day AS at, r.workspace_id, p.run_id, r."user", 0::bigint AS machine_id, p.pool_id, p.held, p.productive
    FROM days AS d
    JOIN ledger_dayheld AS p ON p.cluster_id = d.cluster_id AND p.day = d.day
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE %(rollup)s = 'run'
    UNION ALL
    SELECT d.day, p.workspace_id, 0, '', p.machine_id, p.pool_id,
        coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0),
        coalesce(p.productive, 0)
    FROM days AS d
    JOIN ledger_daymachine AS p ON p.cluster_id = d.cluster_id AND p.day = d.day
    WHERE %(rollup)s = 'machine' AND p.machine_id <> 0
    UNION ALL
    SELECT d.day, p.workspace_id, 0, '', 0, p.pool_id,
        coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0),
        coalesce(p.productive, 0)
    FROM days AS d
    JOIN ledger_daypool AS p ON p.cluster_id = d.cluster_id AND p.day = d.day
    WHERE %(rollup)s = 'pool' AND p.held
    UNION ALL
    SELECT h.hour, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id,
        coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0),
        coalesce(p.productive, 0)
    FROM hours AS h
    JOIN ledger_hour AS p ON p.cluster_id = h.cluster_id AND p.hour = h.hour
        AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE p.machine_id <> 0
    UNION ALL
    SELECT k.open_hour, r.workspace_id, c.run_id, r."user", c.machine_id, c.pool_id,
        c.a_productive + c.a_idle + c.a_stalled + c.a_starting + c.a_restart + c.a_failure + c.a_preemption
            + (c.g_productive + c.g_idle + c.g_stalled + c.g_starting + c.g_restart + c.g_failure + c.g_preemption) * elapsed,
        c.a_productive + c.g_productive * elapsed
    FROM (SELECT *, ledger_ms(least(until, open_hour + interval '1 hour')) - ledger_ms(open_hour) AS elapsed FROM clock) AS k
    JOIN ledger_opencell AS c ON c.cluster_id = k.id
    JOIN ledger_run AS r ON r.id = c.run_id
    WHERE k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s) AND c.machine_id <> 0
), costed AS (
    SELECT
        CASE WHEN %(weekly)s THEN ledger_ms(date_trunc('week', p.at, 'UTC')) ELSE %(start)s END AS bucket,
        CASE %(by)s WHEN 'workspace' THEN p.workspace_id WHEN 'run' THEN p.run_id WHEN 'machine' THEN p.machine_id
            WHEN 'pool' THEN p.pool_id ELSE 0 END AS id,
        CASE %(by)s WHEN 'user' THEN coalesce(nullif(p."user", ''), 'none') ELSE '' END AS said,
        sum(p.held::numeric * coalesce(c.micros, 0)) AS held, sum(p.productive::numeric * coalesce(c.micros, 0)) AS productive,
        sum(CASE WHEN coalesce(c.micros, 0) = 0 THEN p.held ELSE 0 END) AS unpriced
    FROM parts AS p
    LEFT JOIN prices AS c ON c.pool_id = p.pool_id AND p.at >= c.since AND p.at < c.before
    WHERE p.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(user)s = '' OR p."user" = %(user)s OR (%(user)s = 'none' AND p."user" = ''))
      AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[]))
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    GROUP BY 1, 2, 3
), matching AS (
    SELECT l.*
    FROM costed AS l
    LEFT JOIN ledger_workspace AS w ON %(by)s = 'workspace' AND %(q)s <> '' AND w.id = l.id
    LEFT JOIN ledger_run AS r ON %(by)s = 'run' AND %(q)s <> '' AND r.id = l.id
    LEFT JOIN ledger_machine AS m ON %(by)s = 'machine' AND %(q)s <> '' AND m.id = l.id
    LEFT JOIN ledger_pool AS o ON %(by)s = 'pool' AND %(q)s <> '' AND o.id = l.id
    WHERE %(q)s = '' OR strpos(lower(
        CASE %(by)s WHEN 'workspace' THEN w.name WHEN 'run' THEN r.name WHEN 'machine' THEN m.name
            WHEN 'pool' THEN o.name ELSE l.said END
    ), lower(%(q)s)) > 0
)
SELECT 'total' AS kind, bucket, 0 AS id, '' AS said, sum(held), sum(productive), sum(unpriced)
FROM matching GROUP BY bucket
UNION ALL
SELECT 'row', bucket, id, said, held, productive, unpriced
FROM matching WHERE id = ANY (%(ids)s::bigint[]) AND (%(by)s <> 'user' OR said = ANY (%(names)s::text[]));
