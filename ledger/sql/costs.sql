-- What GPU time held cost, by a grouping and in all, over the whole hours [start, end), by ISO week if asked, evaluated at
-- `until`: sums of GPU-microseconds × the price of the day in millionths a GPU-hour, and the GPU time that has no price.
-- Parts as of ledgers (goodput.sql): roll-ups of weeks and days where one has all that is asked, closed hours for the rest
-- or to be taken off, open cells; time held only. An era is from a midnight on at which any pool gets another price: time is
-- added up by pool and era, and only sums have prices put on. A day of some hundred GPUs times a price is beyond a bigint:
-- products are numeric. OFFSET 0 keeps each day and hour a look-up by its key.
-- Prepared for each by, rollup, read, weekly, without runs, machines, pools, user, q.
WITH clock AS MATERIALIZED (
    SELECT
        id, open_hour, ledger_at(%(until)s) AS until, ledger_rolled_to(open_hour) AS rolled,
        -- The nearest midnight: of a day that lacks few hours, those few are read and taken off.
        greatest(
            date_trunc('day', ledger_at(%(start)s) + interval '12 hours', 'UTC'),
            CASE WHEN ledger_at(%(start)s) < kept_from THEN kept_from END
        ) AS lower
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(seen)s::bigint[]))
      AND (%(clusters)s::bigint[] IS NULL OR id = ANY (%(clusters)s::bigint[]))
), eras AS MATERIALIZED (
    SELECT DISTINCT c.since
    FROM ledger_price AS c
    JOIN ledger_pool AS o ON o.id = c.pool_id
    JOIN clock AS k ON k.id = o.cluster_id
), days AS MATERIALIZED (
    -- Days that are rolled up and have nothing that the window has not, but for the few hours that are taken off.
    SELECT k.id AS cluster_id, day, date_trunc('week', day, 'UTC') AS week, (SELECT max(since) FROM eras WHERE since <= day) AS era
    FROM clock AS k, generate_series(
        k.lower, least(ledger_at(%(end)s), k.rolled) - interval '1 microsecond', interval '24 hours'
    ) AS day
    WHERE %(rollup)s <> 'hours' AND least(day + interval '24 hours', k.rolled) <= ledger_at(%(end)s)
      AND (day >= ledger_at(%(start)s) OR day + interval '24 hours' <= k.rolled)
      AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = day.day)
-- only rollup: machine
), weeks AS MATERIALIZED (
    -- Weeks of one era all of whose days are such, of the running one those that are rolled up.
    SELECT d.cluster_id, d.week, min(d.era) AS era
    FROM days AS d
    JOIN clock AS k ON k.id = d.cluster_id
    WHERE %(rollup)s = 'machine'
    GROUP BY 1, 2
    HAVING count(*) = least(7, (SELECT count(*) FROM generate_series(d.week, min(k.rolled) - interval '1 microsecond', interval '24 hours')))
       AND count(DISTINCT coalesce(d.era, '-infinity')) = 1
), rest AS MATERIALIZED (
    -- The other days. Decided here: else the days of such weeks would be read, too, before they are left out.
    SELECT d.*
    FROM days AS d
    WHERE NOT EXISTS (SELECT FROM weeks AS w WHERE w.cluster_id = d.cluster_id AND w.week = d.week)
-- end only
), hours AS MATERIALIZED (
    -- All other hours that are closed, and those that the first day has too many; `summed`: rolled up by themselves.
    SELECT k.id AS cluster_id, hour, date_trunc('week', hour, 'UTC') AS week, (SELECT max(since) FROM eras WHERE since <= date) AS era,
        CASE WHEN hour < ledger_at(%(start)s) THEN -1 ELSE 1 END AS times, %(rollup)s = 'pool'
        AND NOT EXISTS (SELECT FROM ledger_dirtyhour AS d WHERE d.cluster_id = k.id AND d.hour = hour.hour)
        AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = date AND d.day < date_trunc('day', k.open_hour, 'UTC')) AS summed
    FROM clock AS k
    CROSS JOIN LATERAL generate_series(
        date_trunc('day', ledger_at(%(start)s), 'UTC'), least(ledger_at(%(end)s), k.open_hour) - interval '1 hour', interval '24 hours'
    ) AS date
    LEFT JOIN days AS d ON d.cluster_id = k.id AND d.day = date
    CROSS JOIN LATERAL generate_series(date, date + interval '23 hours', interval '1 hour') AS hour
    WHERE (d.day IS NULL OR date < ledger_at(%(start)s) OR date + interval '24 hours' > k.rolled)
      AND hour < least(ledger_at(%(end)s), k.open_hour)
      AND (hour < ledger_at(%(start)s)) = (d.day IS NOT NULL AND hour < k.rolled)
), open AS (
    SELECT date_trunc('week', k.open_hour, 'UTC') AS week, (SELECT max(since) FROM eras WHERE since <= k.open_hour) AS era,
        c.workspace_id, c.run_id, c.machine_id, c.pool_id,
        c.a_productive + c.a_idle + c.a_stalled + c.a_starting + c.a_restart + c.a_failure + c.a_preemption
            + (c.g_productive + c.g_idle + c.g_stalled + c.g_starting + c.g_restart + c.g_failure + c.g_preemption) * elapsed AS held,
        c.a_productive + c.g_productive * elapsed AS productive
    FROM (SELECT *, ledger_ms(least(until, open_hour + interval '1 hour')) - ledger_ms(open_hour) AS elapsed FROM clock OFFSET 0) AS k
    JOIN ledger_opencell AS c ON c.cluster_id = k.id
    WHERE k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s) AND c.machine_id <> 0
), runs AS MATERIALIZED (
    -- What has to be asked of its run whose it is, added up before it is asked.
    SELECT
        CASE WHEN %(weekly)s THEN p.week END AS week, p.era, p.run_id, CASE WHEN %(by)s = 'machine' THEN p.machine_id ELSE 0 END AS machine_id,
        p.pool_id, ledger_sum(p.held) AS held, ledger_sum(p.productive) AS productive
    FROM (
        -- only read: hours
        SELECT h.week, h.era, p.run_id, p.machine_id, p.pool_id,
            h.times * (coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0)) AS held,
            h.times * coalesce(p.productive, 0) AS productive
        FROM hours AS h
        CROSS JOIN LATERAL (
            SELECT * FROM ledger_hour AS p
            WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour
              -- a window's hours, once more, so that only their months are looked into
              AND p.hour >= ledger_at(%(start)s - 43200000) AND p.hour < ledger_at(%(end)s) AND p.machine_id <> 0
              AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[]))
              AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
              AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
            OFFSET 0
        ) AS p
        WHERE %(read)s = 'hours' AND NOT h.summed
        -- end only
        -- only read: runs
        -- Where no roll-up is asked, and a user: what is not of a user's runs is not read.
        UNION ALL
        SELECT h.week, h.era, p.run_id, p.machine_id, p.pool_id,
            h.times * (coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0)),
            h.times * coalesce(p.productive, 0)
        FROM ledger_run AS r
        JOIN ledger_hour AS p ON p.run_id = r.id AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s) AND p.machine_id <> 0
        JOIN hours AS h ON h.cluster_id = p.cluster_id AND h.hour = p.hour
        WHERE %(read)s = 'runs' AND r.workspace_id = ANY (%(workspaces)s::bigint[])
          AND (%(user)s = '' OR r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        -- end only
        -- only rollup: run
        UNION ALL
        SELECT d.week, d.era, p.run_id, 0, p.pool_id,
            coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0),
            coalesce(p.productive, 0)
        FROM days AS d
        CROSS JOIN LATERAL (
            SELECT * FROM ledger_dayrun AS p
            WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND p.held
              AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[]))
              AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
            OFFSET 0
        ) AS p
        WHERE %(rollup)s = 'run'
        -- end only
        -- only rollup: run hours
        UNION ALL
        SELECT p.week, p.era, p.run_id, p.machine_id, p.pool_id, p.held, p.productive
        FROM open AS p
        WHERE %(rollup)s IN ('run', 'hours') AND p.workspace_id = ANY (%(workspaces)s::bigint[])
          AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[]))
          AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        -- end only
    ) AS p (week, era, run_id, machine_id, pool_id, held, productive)
    GROUP BY 1, 2, 3, 4, 5
), whole AS MATERIALIZED (
    -- Whether nothing has to be asked of any run: all of an organization may be seen, and neither rooms nor users are asked for.
    SELECT %(by)s IN ('run', 'machine', 'pool') AND %(user)s = '' AND NOT EXISTS (
        SELECT FROM ledger_workspace
        WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(seen)s::bigint[])) AND id <> ALL (%(workspaces)s::bigint[])
    ) AS is_seen
), parts AS (
    SELECT p.week, p.era, 0::bigint AS workspace_id, p.run_id, '' AS "user", p.machine_id, p.pool_id, p.held, p.productive
    FROM runs AS p
    WHERE (SELECT is_seen FROM whole)
    UNION ALL
    SELECT p.week, p.era, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.held, p.productive
    FROM runs AS p
    CROSS JOIN LATERAL (SELECT workspace_id, "user" FROM ledger_run AS r WHERE r.id = p.run_id OFFSET 0) AS r
    WHERE NOT (SELECT is_seen FROM whole) AND r.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(user)s = '' OR r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
    -- only rollup: machine pool
    UNION ALL
    SELECT p.week, p.era, p.workspace_id, 0, '', p.machine_id, p.pool_id, p.held, p.productive
    FROM open AS p
    WHERE %(rollup)s IN ('machine', 'pool') AND p.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    -- end only
    -- only rollup: machine
    UNION ALL
    SELECT d.week, d.era, p.workspace_id, 0, '', p.machine_id, p.pool_id,
        coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0),
        coalesce(p.productive, 0)
    FROM weeks AS d
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_weekmachine AS p
        WHERE p.cluster_id = d.cluster_id AND p.week = d.week AND p.workspace_id = ANY (%(workspaces)s::bigint[]) AND p.machine_id <> 0
          AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        OFFSET 0
    ) AS p
    WHERE %(rollup)s = 'machine'
    UNION ALL
    SELECT d.week, d.era, p.workspace_id, 0, '', p.machine_id, p.pool_id,
        coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0),
        coalesce(p.productive, 0)
    FROM rest AS d
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_daymachine AS p
        WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND p.workspace_id = ANY (%(workspaces)s::bigint[]) AND p.machine_id <> 0
          AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        OFFSET 0
    ) AS p
    WHERE %(rollup)s = 'machine'
    -- end only
    -- only rollup: pool
    UNION ALL
    SELECT d.week, d.era, p.workspace_id, 0, '', 0, p.pool_id,
        coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0),
        coalesce(p.productive, 0)
    FROM days AS d
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_daypool AS p
        WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND p.workspace_id = ANY (%(workspaces)s::bigint[]) AND p.held
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        OFFSET 0
    ) AS p
    WHERE %(rollup)s = 'pool'
    UNION ALL
    SELECT h.week, h.era, p.workspace_id, 0, '', 0, p.pool_id,
        h.times * (coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0)),
        h.times * coalesce(p.productive, 0)
    FROM hours AS h
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hourpool AS p
        WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour AND p.workspace_id = ANY (%(workspaces)s::bigint[]) AND p.held
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        OFFSET 0
    ) AS p
    WHERE %(rollup)s = 'pool' AND h.summed
    -- end only
), spent (bucket, era, pool_id, id, said, held, productive) AS (
    -- only by: run machine
    SELECT
        CASE WHEN %(weekly)s THEN ledger_ms(p.week) ELSE %(start)s END AS bucket, p.era, p.pool_id,
        CASE %(by)s WHEN 'run' THEN p.run_id ELSE p.machine_id END AS id, '' AS said,
        ledger_sum(p.held) AS held, ledger_sum(p.productive) AS productive
    FROM parts AS p
    WHERE %(by)s IN ('run', 'machine')
    GROUP BY 1, 2, 3, 4
    -- end only
    -- only by: workspace pool user
    UNION ALL
    SELECT
        CASE WHEN %(weekly)s THEN ledger_ms(p.week) ELSE %(start)s END, p.era, p.pool_id,
        CASE %(by)s WHEN 'workspace' THEN p.workspace_id WHEN 'pool' THEN p.pool_id ELSE 0 END,
        CASE %(by)s WHEN 'user' THEN coalesce(nullif(p."user", ''), 'none') ELSE '' END,
        sum(p.held), sum(p.productive)
    FROM parts AS p
    WHERE %(by)s IN ('workspace', 'pool', 'user')
    GROUP BY 1, 2, 3, 4, 5
    -- end only
), matching AS MATERIALIZED (
    SELECT l.*
    FROM spent AS l
    -- only search: on
    LEFT JOIN ledger_workspace AS w ON %(by)s = 'workspace' AND %(q)s <> '' AND w.id = l.id
    LEFT JOIN ledger_run AS r ON %(by)s = 'run' AND %(q)s <> '' AND r.id = l.id
    LEFT JOIN ledger_machine AS m ON %(by)s = 'machine' AND %(q)s <> '' AND m.id = l.id
    LEFT JOIN ledger_pool AS o ON %(by)s = 'pool' AND %(q)s <> '' AND o.id = l.id
    WHERE %(q)s = '' OR strpos(lower(
        CASE %(by)s WHEN 'workspace' THEN w.name WHEN 'run' THEN r.name WHEN 'machine' THEN m.name
            WHEN 'pool' THEN o.name ELSE l.said END
    ), lower(%(q)s)) > 0
    -- end only
)
SELECT 'total' AS kind, bucket, 0 AS id, '' AS said, sum(p.held * c.micros), sum(p.productive * c.micros), sum(CASE WHEN c.micros = 0 THEN p.held ELSE 0 END)
FROM (SELECT bucket, era, pool_id, sum(held) AS held, sum(productive) AS productive FROM matching GROUP BY 1, 2, 3) AS p
CROSS JOIN LATERAL (SELECT coalesce((
        SELECT c.micros FROM ledger_price AS c WHERE c.pool_id = p.pool_id AND c.since <= p.era ORDER BY c.since DESC LIMIT 1
    ), 0) AS micros) AS c
GROUP BY bucket
UNION ALL
SELECT 'row', bucket, id, said, sum(p.held::numeric * c.micros), sum(p.productive::numeric * c.micros), sum(CASE WHEN c.micros = 0 THEN p.held::numeric ELSE 0 END)
FROM matching AS p
CROSS JOIN LATERAL (SELECT coalesce((
        SELECT c.micros FROM ledger_price AS c WHERE c.pool_id = p.pool_id AND c.since <= p.era ORDER BY c.since DESC LIMIT 1
    ), 0) AS micros) AS c
WHERE id = ANY (%(ids)s::bigint[]) AND (%(by)s <> 'user' OR said = ANY (%(names)s::text[]))
GROUP BY bucket, id, said;
