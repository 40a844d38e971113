-- Ledgers by a grouping, and their totals, over the whole hours [start, end), by ISO week if asked: one snapshot, evaluated
-- at the cluster's clock. Parts: roll-ups of weeks, days and eighths of days where one has all that is asked, the total of a
-- run less the days that are not asked for where those are fewer, closed hours for the rest, open cells. What a roll-up has
-- too much is taken off. Time on machines is held, so productive, idle, starting and restart always are and waiting
-- never is. OFFSET 0 keeps each day and hour a look-up by its key, for how many there are is not known when this is planned.
-- By machine what is held is told at the end; where all may be seen, machines and pools are read without workspaces, as of workspace 0.
-- Prepared for each by, rollup, weekly, lookup, sort, descending, without runs, machines, pools, user, q.
WITH clock AS MATERIALIZED (
    SELECT
        id, open_hour, final_to, least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour') AS until,
        -- The nearest midnight: of a day that lacks few hours, those few are read and taken off.
        greatest(
            date_trunc('day', ledger_at(%(start)s) + interval '12 hours', 'UTC'),
            CASE WHEN ledger_at(%(start)s) < kept_from THEN kept_from END
        ) AS lower,
        least(date_trunc('day', ledger_at(%(end)s), 'UTC'), date_trunc('day', open_hour, 'UTC')) AS upper,
        ledger_rolled_to(open_hour) AS rolled
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(seen)s::bigint[]))
      AND (%(clusters)s::bigint[] IS NULL OR id = ANY (%(clusters)s::bigint[]))
), days AS MATERIALIZED (
    -- Days that are rolled up and have nothing that the window has not, but for the few hours that are taken off.
    SELECT k.id AS cluster_id, day, date_trunc('week', day, 'UTC') AS week
    FROM clock AS k, generate_series(
        k.lower, least(ledger_at(%(end)s), k.rolled) - interval '1 microsecond', interval '24 hours'
    ) AS day
    WHERE %(rollup)s <> 'hours' AND least(day + interval '24 hours', k.rolled) <= ledger_at(%(end)s)
      AND (day >= ledger_at(%(start)s) OR day + interval '24 hours' <= k.rolled)
      AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = day.day)
-- only rollup: run machine
), weeks AS MATERIALIZED (
    -- Weeks all of whose days are such, of the running one those that are rolled up; of machines those too that lack one or two.
    SELECT d.cluster_id, d.week, max(l.last) AS last
    FROM days AS d
    JOIN clock AS k ON k.id = d.cluster_id
    CROSS JOIN LATERAL (SELECT least(d.week + interval '144 hours', date_trunc('day', k.rolled - interval '1 microsecond', 'UTC')) AS last) AS l
    WHERE %(rollup)s IN ('run', 'machine')
    GROUP BY 1, 2
    HAVING count(*) = (SELECT count(*) FROM generate_series(d.week, max(l.last), interval '24 hours'))
        OR %(rollup)s = 'machine' AND count(*) > 4
        AND NOT EXISTS (SELECT FROM ledger_dirtyday AS x WHERE x.cluster_id = d.cluster_id AND x.day >= d.week AND x.day <= max(l.last))
), rest AS MATERIALIZED (
    -- The other days. Decided here: else the days of such weeks would be read, too, before they are left out.
    SELECT d.cluster_id, d.day, d.week
    FROM days AS d
    WHERE NOT EXISTS (SELECT FROM weeks AS w WHERE w.cluster_id = d.cluster_id AND w.week = d.week)
-- end only
-- only rollup: machine
), owed AS MATERIALIZED (
    SELECT w.cluster_id, w.week, day
    FROM weeks AS w
    CROSS JOIN LATERAL generate_series(w.week, w.last, interval '24 hours') AS day
    WHERE %(rollup)s = 'machine' AND NOT EXISTS (SELECT FROM days AS d WHERE d.cluster_id = w.cluster_id AND d.day = day.day)
-- end only
-- only rollup: run
), others AS MATERIALIZED (
    -- Days that the total of a run, which knows no pools, has and the window has not, where they are fewer than those it has.
    SELECT k.id AS cluster_id, day
    FROM clock AS k, generate_series(
        (SELECT min(day) FROM ledger_dayrun AS p WHERE p.cluster_id = k.id), date_trunc('day', k.open_hour, 'UTC'), interval '24 hours'
    ) AS day
    WHERE %(rollup)s = 'run' AND NOT %(weekly)s AND %(by)s <> 'pool' AND %(pools)s::bigint[] IS NULL AND k.upper - k.lower > k.open_hour - k.upper + greatest(
        k.lower - (SELECT min(day) FROM ledger_dayrun AS p WHERE p.cluster_id = k.id), interval '0 hours'
    ) + interval '240 hours' AND NOT EXISTS (SELECT FROM days AS d WHERE d.cluster_id = k.id AND d.day = day.day)
), totalled AS MATERIALIZED (
    SELECT DISTINCT cluster_id FROM others
-- end only
), dates AS MATERIALIZED (
    -- Days of which not all is asked for, or not all is rolled up; `taken`: all that is rolled up is taken, as a day.
    SELECT k.id AS cluster_id, date, k.open_hour, k.rolled, d.day IS NOT NULL AS taken,
        %(rollup)s <> 'hours' AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = date) AS clean,
        -- The nearest eighths: of one that lacks an hour, that one is read and taken off.
        CASE WHEN %(rollup)s = 'pool' THEN date ELSE date_bin('3 hours', ledger_at(%(start)s) + interval '1 hour', date) END AS lower,
        CASE WHEN %(rollup)s = 'pool' THEN date ELSE date_bin('3 hours', ledger_at(%(end)s) + interval '1 hour', date) END AS upper
    FROM clock AS k
    CROSS JOIN LATERAL generate_series(
        date_trunc('day', ledger_at(%(start)s), 'UTC'), least(ledger_at(%(end)s), k.open_hour) - interval '1 hour', interval '24 hours'
    ) AS date
    LEFT JOIN days AS d ON d.cluster_id = k.id AND d.day = date
    WHERE d.day IS NULL OR date < ledger_at(%(start)s) OR date + interval '24 hours' > k.rolled
-- only rollup: run machine
), eighths AS MATERIALIZED (
    SELECT d.cluster_id, eighth, date_trunc('week', eighth, 'UTC') AS week, CASE WHEN d.taken THEN -1 ELSE 1 END AS times
    FROM dates AS d
    CROSS JOIN LATERAL generate_series(d.date, least(d.date + interval '24 hours', d.rolled) - interval '3 hours', interval '3 hours') AS eighth
    WHERE %(rollup)s IN ('run', 'machine') AND d.clean AND (eighth >= d.lower AND eighth < d.upper) <> d.taken
-- end only
), hours AS MATERIALIZED (
    -- All other hours that are closed, and those that the first day or an eighth has too many; `summed`: rolled up by themselves.
    SELECT d.cluster_id, hour, date_trunc('week', hour, 'UTC') AS week,
        CASE WHEN hour >= ledger_at(%(start)s) AND hour < ledger_at(%(end)s) THEN 1 ELSE -1 END AS times, %(rollup)s = 'pool'
        AND NOT EXISTS (SELECT FROM ledger_dirtyhour AS h WHERE h.cluster_id = d.cluster_id AND h.hour = hour.hour)
        AND (d.clean OR d.date = date_trunc('day', d.open_hour, 'UTC')) AS summed
    FROM dates AS d
    CROSS JOIN LATERAL generate_series(d.date, d.date + interval '23 hours', interval '1 hour') AS hour
    WHERE hour < d.open_hour AND (hour >= ledger_at(%(start)s) AND hour < ledger_at(%(end)s)) <> (
        d.clean AND hour < d.rolled AND CASE WHEN %(rollup)s = 'pool' THEN d.taken ELSE hour >= d.lower AND hour < d.upper END
    )
), open AS (
    SELECT
        date_trunc('week', k.open_hour, 'UTC') AS week, c.workspace_id, c.run_id, c.machine_id, c.pool_id,
        (c.a_productive + c.g_productive * elapsed)::bigint AS productive,
        (c.a_idle + c.g_idle * elapsed)::bigint AS idle,
        (c.a_stalled + c.g_stalled * elapsed)::bigint AS stalled,
        (c.a_starting + c.g_starting * elapsed)::bigint AS starting,
        (c.a_restart + c.g_restart * elapsed)::bigint AS restart,
        (c.a_failure + c.g_failure * elapsed)::bigint AS failure,
        (c.a_preemption + c.g_preemption * elapsed)::bigint AS preemption,
        (c.a_waiting + c.g_waiting * elapsed)::bigint AS waiting,
        (c.a_unobserved + c.g_unobserved * elapsed)::bigint AS unobserved,
        (c.a_unobserved_productive + c.g_unobserved_productive * elapsed)::bigint AS unobserved_productive
    FROM (SELECT *, ledger_ms(until) - ledger_ms(open_hour) AS elapsed FROM clock OFFSET 0) AS k
    JOIN ledger_opencell AS c ON c.cluster_id = k.id
    WHERE k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s)
-- only lookup: mine
), mine AS MATERIALIZED (
    -- The runs of the few workspaces that are asked for, found before the time of all others is added up.
    SELECT id, workspace_id, "user" FROM ledger_run
    WHERE workspace_id = ANY (%(workspaces)s::bigint[]) AND (%(user)s = '' OR "user" = %(user)s OR (%(user)s = 'none' AND "user" = ''))
-- end only
), runs AS NOT MATERIALIZED (
    -- What has to be asked of its run whose it is.
    SELECT
        CASE WHEN %(weekly)s THEN p.week END AS week, p.run_id,
        CASE WHEN %(by)s = 'machine' THEN p.machine_id ELSE 0 END AS machine_id,
        CASE WHEN %(by)s IN ('machine', 'pool') THEN p.pool_id ELSE 0 END AS pool_id,
        ledger_sum(productive) AS productive, ledger_sum(idle) AS idle, ledger_sum(stalled) AS stalled, ledger_sum(starting) AS starting, ledger_sum(restart) AS restart, ledger_sum(failure) AS failure, ledger_sum(preemption) AS preemption, ledger_sum(waiting) AS waiting, ledger_sum(unobserved) AS unobserved, ledger_sum(unobserved_productive) AS unobserved_productive,
        ledger_sum(stalled) FILTER (WHERE held) AS held_stalled, ledger_sum(failure) FILTER (WHERE held) AS held_failure, ledger_sum(preemption) FILTER (WHERE held) AS held_preemption
    FROM (
        -- only rollup: run
        SELECT d.week, p.run_id, 0::bigint AS machine_id, p.pool_id, p.held, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
        FROM weeks AS d
        CROSS JOIN LATERAL (SELECT * FROM ledger_weekrun AS p WHERE p.cluster_id = d.cluster_id AND p.week = d.week AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[])) OFFSET 0) AS p
        WHERE %(rollup)s = 'run' AND d.cluster_id NOT IN (SELECT cluster_id FROM totalled)
        UNION ALL
        SELECT d.week, p.run_id, 0::bigint AS machine_id, p.pool_id, p.held, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
        FROM rest AS d
        CROSS JOIN LATERAL (SELECT * FROM ledger_dayrun AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[])) OFFSET 0) AS p
        WHERE %(rollup)s = 'run' AND d.cluster_id NOT IN (SELECT cluster_id FROM totalled)
        UNION ALL
        SELECT d.week, p.run_id, 0, p.pool_id, p.held, d.times * p.productive, d.times * p.idle, d.times * p.stalled, d.times * p.starting, d.times * p.restart, d.times * p.failure, d.times * p.preemption, d.times * p.waiting, d.times * p.unobserved, d.times * p.unobserved_productive
        FROM eighths AS d
        CROSS JOIN LATERAL (SELECT * FROM ledger_eighthrun AS p WHERE p.cluster_id = d.cluster_id AND p.eighth = d.eighth AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[])) OFFSET 0) AS p
        WHERE %(rollup)s = 'run'
        UNION ALL
        SELECT NULL, p.run_id, 0, 0, p.held, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
        FROM totalled AS t
        JOIN ledger_run AS r ON r.cluster_id = t.cluster_id AND r.workspace_id = ANY (%(workspaces)s::bigint[])
        JOIN ledger_runtotal AS p ON p.run_id = r.id
        WHERE %(rollup)s = 'run'
        UNION ALL
        SELECT NULL, p.run_id, 0, 0, p.held, -p.productive, -p.idle, -p.stalled, -p.starting, -p.restart, -p.failure, -p.preemption, -p.waiting, -p.unobserved, -p.unobserved_productive
        FROM others AS d
        CROSS JOIN LATERAL (SELECT * FROM ledger_dayrun AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[])) OFFSET 0) AS p
        WHERE %(rollup)s = 'run'
        -- end only
        -- only rollup: runs
        -- Those of some runs are found by their runs.
        UNION ALL
        SELECT date_trunc('week', p.hour, 'UTC'), p.run_id, p.machine_id, p.pool_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
        FROM clock AS k
        JOIN ledger_run AS r ON r.cluster_id = k.id AND r.workspace_id = ANY (%(workspaces)s::bigint[])
        CROSS JOIN LATERAL (
            SELECT * FROM ledger_hour AS p
            WHERE p.run_id = r.id AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
            OFFSET 0
        ) AS p
        WHERE %(rollup)s = 'runs' AND (%(runs)s::bigint[] IS NULL OR r.id = ANY (%(runs)s::bigint[]))
          AND (%(user)s = '' OR r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
        -- end only
        -- only rollup: run machine pool hours
        UNION ALL
        SELECT h.week, p.run_id, p.machine_id, p.pool_id, p.machine_id <> 0, h.times * p.productive, h.times * p.idle, h.times * p.stalled, h.times * p.starting, h.times * p.restart, h.times * p.failure, h.times * p.preemption, h.times * p.waiting, h.times * p.unobserved, h.times * p.unobserved_productive
        FROM hours AS h
        CROSS JOIN LATERAL (
            SELECT * FROM ledger_hour AS p
            WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour
              AND p.hour >= ledger_at(%(start)s - 43200000) AND p.hour < ledger_at(%(end)s + 3600000) AND (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[]))
              AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
              AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
            OFFSET 0
        ) AS p
        WHERE %(rollup)s <> 'runs' AND NOT h.summed
        -- end only
        -- only rollup: run hours runs
        UNION ALL
        SELECT week, run_id, machine_id, pool_id, machine_id <> 0, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive
        FROM open
        WHERE %(rollup)s IN ('run', 'hours', 'runs')
        -- end only
    ) AS p (week, run_id, machine_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
    WHERE (%(runs)s::bigint[] IS NULL OR p.run_id = ANY (%(runs)s::bigint[]))
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    -- only lookup: mine
      AND (%(lookup)s <> 'mine' OR p.run_id IN (SELECT id FROM mine))
    -- end only
    GROUP BY 1, 2, 3, 4
-- only lookup: whole
), every AS MATERIALIZED (
    -- The runs of a long window are read as a whole, those of a short one are looked up one by one.
    SELECT id, workspace_id, "user" FROM ledger_run WHERE workspace_id = ANY (%(workspaces)s::bigint[])
-- end only
), parts (week, workspace_id, run_id, "user", machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive, held_stalled, held_failure, held_preemption) AS NOT MATERIALIZED (
    -- only lookup: none
    -- Where all runs may be seen, and nothing else is asked of them.
    SELECT p.week, 0, p.run_id, '', p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, p.held_stalled, p.held_failure, p.held_preemption
    FROM runs AS p
    WHERE %(lookup)s = 'none'
    -- end only
    -- only lookup: whole
    UNION ALL
    SELECT p.week, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, p.held_stalled, p.held_failure, p.held_preemption
    FROM runs AS p
    JOIN every AS r ON r.id = p.run_id
    WHERE %(lookup)s = 'whole' AND r.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(user)s = '' OR r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
    -- end only
    -- only lookup: each
    UNION ALL
    SELECT p.week, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, p.held_stalled, p.held_failure, p.held_preemption
    FROM runs AS p
    CROSS JOIN LATERAL (SELECT workspace_id, "user" FROM ledger_run AS r WHERE r.id = p.run_id OFFSET 0) AS r
    WHERE %(lookup)s = 'each' AND r.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(user)s = '' OR r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
    -- end only
    -- only lookup: mine
    UNION ALL
    SELECT p.week, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, p.held_stalled, p.held_failure, p.held_preemption
    FROM runs AS p
    JOIN mine AS r ON r.id = p.run_id
    WHERE %(lookup)s = 'mine'
    -- end only
    -- only lookup: cells
    -- Where nobody asks of which run a cell is.
    UNION ALL
    SELECT h.week, 0, 0, '', p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.stalled END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.failure END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.preemption END
    FROM hours AS h
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hour AS p
        WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour
          AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
          AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        OFFSET 0
    ) AS p
    WHERE %(lookup)s = 'cells' AND h.times = 1 AND NOT h.summed
    UNION ALL
    SELECT h.week, 0, 0, '', p.machine_id, p.pool_id, -p.productive, -p.idle, -p.stalled, -p.starting, -p.restart, -p.failure, -p.preemption, -p.waiting, -p.unobserved, -p.unobserved_productive, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN -p.stalled END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN -p.failure END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN -p.preemption END
    FROM hours AS h
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hour AS p
        WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour
          AND p.hour >= ledger_at(%(start)s - 43200000) AND p.hour < ledger_at(%(end)s + 3600000)
          AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
          AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
        OFFSET 0
    ) AS p
    WHERE %(lookup)s = 'cells' AND h.times = -1 AND NOT h.summed
    -- end only
    -- only rollup: machine
    UNION ALL
    SELECT p.week, p.workspace_id, 0, '', p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.stalled END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.failure END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.preemption END
    FROM open AS p
    WHERE %(rollup)s = 'machine' AND p.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    UNION ALL
    SELECT d.week, p.workspace_id, 0, '', p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.stalled END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.failure END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.preemption END
    FROM weeks AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_weekmachine AS p WHERE p.cluster_id = d.cluster_id AND p.week = d.week AND p.workspace_id = ANY (CASE WHEN %(lookup)s = 'cells' THEN '{0}' ELSE %(workspaces)s::bigint[] END) OFFSET 0) AS p
    WHERE %(rollup)s = 'machine'
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    UNION ALL
    SELECT d.week, p.workspace_id, 0, '', p.machine_id, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.stalled END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.failure END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN p.preemption END
    FROM rest AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_daymachine AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND p.workspace_id = ANY (CASE WHEN %(lookup)s = 'cells' THEN '{0}' ELSE %(workspaces)s::bigint[] END) OFFSET 0) AS p
    WHERE %(rollup)s = 'machine'
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    UNION ALL
    SELECT d.week, p.workspace_id, 0, '', p.machine_id, p.pool_id, -p.productive, -p.idle, -p.stalled, -p.starting, -p.restart, -p.failure, -p.preemption, -p.waiting, -p.unobserved, -p.unobserved_productive, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN -p.stalled END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN -p.failure END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN -p.preemption END
    FROM owed AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_daymachine AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND p.workspace_id = ANY (CASE WHEN %(lookup)s = 'cells' THEN '{0}' ELSE %(workspaces)s::bigint[] END) OFFSET 0) AS p
    WHERE %(rollup)s = 'machine'
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    UNION ALL
    SELECT d.week, p.workspace_id, 0, '', p.machine_id, p.pool_id, d.times * p.productive, d.times * p.idle, d.times * p.stalled, d.times * p.starting, d.times * p.restart, d.times * p.failure, d.times * p.preemption, d.times * p.waiting, d.times * p.unobserved, d.times * p.unobserved_productive, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN d.times * p.stalled END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN d.times * p.failure END, CASE WHEN %(by)s <> 'machine' AND p.machine_id <> 0 THEN d.times * p.preemption END
    FROM eighths AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_eighthmachine AS p WHERE p.cluster_id = d.cluster_id AND p.eighth = d.eighth AND p.workspace_id = ANY (%(workspaces)s::bigint[]) OFFSET 0) AS p
    WHERE %(rollup)s = 'machine'
      AND (%(machines)s::bigint[] IS NULL OR p.machine_id = ANY (%(machines)s::bigint[]))
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    -- end only
    -- only rollup: pool
    UNION ALL
    SELECT date_trunc('week', k.open_hour, 'UTC'), p.workspace_id, 0, '', 0, p.pool_id, p.a_productive + p.g_productive * k.elapsed, p.a_idle + p.g_idle * k.elapsed, p.a_stalled + p.g_stalled * k.elapsed, p.a_starting + p.g_starting * k.elapsed, p.a_restart + p.g_restart * k.elapsed, p.a_failure + p.g_failure * k.elapsed, p.a_preemption + p.g_preemption * k.elapsed, p.a_waiting + p.g_waiting * k.elapsed, p.a_unobserved + p.g_unobserved * k.elapsed, p.a_unobserved_productive + p.g_unobserved_productive * k.elapsed, CASE WHEN p.held THEN p.a_stalled + p.g_stalled * k.elapsed END, CASE WHEN p.held THEN p.a_failure + p.g_failure * k.elapsed END, CASE WHEN p.held THEN p.a_preemption + p.g_preemption * k.elapsed END
    FROM (SELECT *, ledger_ms(until) - ledger_ms(open_hour) AS elapsed FROM clock OFFSET 0) AS k
    CROSS JOIN LATERAL (
        SELECT
            c.workspace_id, c.pool_id, c.machine_id <> 0 AS held,
            ledger_sum(c.a_productive) AS a_productive, ledger_sum(c.g_productive) AS g_productive,
            ledger_sum(c.a_idle) AS a_idle, ledger_sum(c.g_idle) AS g_idle,
            ledger_sum(c.a_stalled) AS a_stalled, ledger_sum(c.g_stalled) AS g_stalled,
            ledger_sum(c.a_starting) AS a_starting, ledger_sum(c.g_starting) AS g_starting,
            ledger_sum(c.a_restart) AS a_restart, ledger_sum(c.g_restart) AS g_restart,
            ledger_sum(c.a_failure) AS a_failure, ledger_sum(c.g_failure) AS g_failure,
            ledger_sum(c.a_preemption) AS a_preemption, ledger_sum(c.g_preemption) AS g_preemption,
            ledger_sum(c.a_waiting) AS a_waiting, ledger_sum(c.g_waiting) AS g_waiting,
            ledger_sum(c.a_unobserved) AS a_unobserved, ledger_sum(c.g_unobserved) AS g_unobserved,
            ledger_sum(c.a_unobserved_productive) AS a_unobserved_productive, ledger_sum(c.g_unobserved_productive) AS g_unobserved_productive
        FROM ledger_opencell AS c
        WHERE c.cluster_id = k.id AND c.workspace_id = ANY (%(workspaces)s::bigint[])
          AND (%(pools)s::bigint[] IS NULL OR c.pool_id = ANY (%(pools)s::bigint[]))
        GROUP BY 1, 2, 3
    ) AS p
    WHERE %(rollup)s = 'pool' AND k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s)
    UNION ALL
    SELECT d.week, p.workspace_id, 0, '', 0, p.pool_id, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN p.held THEN p.stalled END, CASE WHEN p.held THEN p.failure END, CASE WHEN p.held THEN p.preemption END
    FROM days AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_daypool AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND p.workspace_id = ANY (CASE WHEN %(lookup)s = 'cells' THEN '{0}' ELSE %(workspaces)s::bigint[] END) OFFSET 0) AS p
    WHERE %(rollup)s = 'pool'
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    UNION ALL
    SELECT d.week, p.workspace_id, 0, '', 0, p.pool_id, d.times * p.productive, d.times * p.idle, d.times * p.stalled, d.times * p.starting, d.times * p.restart, d.times * p.failure, d.times * p.preemption, d.times * p.waiting, d.times * p.unobserved, d.times * p.unobserved_productive, CASE WHEN p.held THEN d.times * p.stalled END, CASE WHEN p.held THEN d.times * p.failure END, CASE WHEN p.held THEN d.times * p.preemption END
    FROM hours AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_hourpool AS p WHERE p.cluster_id = d.cluster_id AND p.hour = d.hour AND p.workspace_id = ANY (CASE WHEN %(lookup)s = 'cells' THEN '{0}' ELSE %(workspaces)s::bigint[] END) OFFSET 0) AS p
    WHERE d.summed AND %(rollup)s = 'pool'
      AND (%(pools)s::bigint[] IS NULL OR p.pool_id = ANY (%(pools)s::bigint[]))
    -- end only
-- only by: machine
), netted AS MATERIALIZED (
    -- What was taken off a whole day leaves nothing of a pool that a machine was in before.
    SELECT CASE WHEN %(weekly)s THEN p.week END AS week, p.machine_id, p.pool_id, ledger_sum(p.productive) AS productive, ledger_sum(p.idle) AS idle, ledger_sum(p.stalled) AS stalled, ledger_sum(p.starting) AS starting, ledger_sum(p.restart) AS restart, ledger_sum(p.failure) AS failure, ledger_sum(p.preemption) AS preemption, ledger_sum(p.waiting) AS waiting, ledger_sum(p.unobserved) AS unobserved, ledger_sum(p.unobserved_productive) AS unobserved_productive
    FROM parts AS p
    WHERE %(by)s = 'machine'
    GROUP BY 1, p.machine_id, p.pool_id
    HAVING ledger_sum(p.productive) <> 0 OR ledger_sum(p.idle) <> 0 OR ledger_sum(p.stalled) <> 0 OR ledger_sum(p.starting) <> 0 OR ledger_sum(p.restart) <> 0 OR ledger_sum(p.failure) <> 0 OR ledger_sum(p.preemption) <> 0 OR ledger_sum(p.waiting) <> 0
-- end only
), ledgers AS (
    -- only by: run
    -- There is one part a run by now.
    SELECT
        CASE WHEN %(weekly)s THEN ledger_ms(p.week) ELSE %(start)s END AS bucket,
        p.run_id AS id, NULL AS said, 0::bigint AS pool_id,
        coalesce(p.productive, 0) AS productive, coalesce(p.idle, 0) AS idle, coalesce(p.stalled, 0) AS stalled, coalesce(p.starting, 0) AS starting, coalesce(p.restart, 0) AS restart, coalesce(p.failure, 0) AS failure, coalesce(p.preemption, 0) AS preemption, coalesce(p.waiting, 0) AS waiting, coalesce(p.unobserved, 0) AS unobserved, coalesce(p.unobserved_productive, 0) AS unobserved_productive,
        coalesce(p.held_stalled, 0) AS held_stalled, coalesce(p.held_failure, 0) AS held_failure, coalesce(p.held_preemption, 0) AS held_preemption
    FROM parts AS p
    WHERE %(by)s = 'run'
    -- end only
    -- only by: machine
    UNION ALL
    SELECT
        CASE WHEN %(weekly)s THEN ledger_ms(p.week) ELSE %(start)s END AS bucket,
        p.machine_id AS id, NULL AS said, CASE WHEN p.machine_id <> 0 THEN max(p.pool_id) ELSE 0 END AS pool_id,
        coalesce(ledger_sum(p.productive), 0) AS productive, coalesce(ledger_sum(p.idle), 0) AS idle, coalesce(ledger_sum(p.stalled), 0) AS stalled, coalesce(ledger_sum(p.starting), 0) AS starting, coalesce(ledger_sum(p.restart), 0) AS restart, coalesce(ledger_sum(p.failure), 0) AS failure, coalesce(ledger_sum(p.preemption), 0) AS preemption, coalesce(ledger_sum(p.waiting), 0) AS waiting, coalesce(ledger_sum(p.unobserved), 0) AS unobserved, coalesce(ledger_sum(p.unobserved_productive), 0) AS unobserved_productive,
        CASE WHEN p.machine_id <> 0 THEN coalesce(ledger_sum(p.stalled), 0) ELSE 0 END AS held_stalled, CASE WHEN p.machine_id <> 0 THEN coalesce(ledger_sum(p.failure), 0) ELSE 0 END AS held_failure, CASE WHEN p.machine_id <> 0 THEN coalesce(ledger_sum(p.preemption), 0) ELSE 0 END AS held_preemption
    FROM netted AS p
    GROUP BY p.week, p.machine_id
    -- end only
    -- only by: workspace pool user
    UNION ALL
    SELECT
        CASE WHEN %(weekly)s THEN ledger_ms(p.week) ELSE %(start)s END AS bucket,
        CASE %(by)s WHEN 'workspace' THEN p.workspace_id WHEN 'pool' THEN p.pool_id END AS id,
        CASE %(by)s WHEN 'user' THEN coalesce(nullif(p."user", ''), 'none') END AS said, 0::bigint AS pool_id,
        coalesce(sum(p.productive), 0) AS productive, coalesce(sum(p.idle), 0) AS idle, coalesce(sum(p.stalled), 0) AS stalled, coalesce(sum(p.starting), 0) AS starting, coalesce(sum(p.restart), 0) AS restart, coalesce(sum(p.failure), 0) AS failure, coalesce(sum(p.preemption), 0) AS preemption, coalesce(sum(p.waiting), 0) AS waiting, coalesce(sum(p.unobserved), 0) AS unobserved, coalesce(sum(p.unobserved_productive), 0) AS unobserved_productive,
        coalesce(sum(p.held_stalled), 0) AS held_stalled, coalesce(sum(p.held_failure), 0) AS held_failure, coalesce(sum(p.held_preemption), 0) AS held_preemption
    FROM parts AS p
    WHERE %(by)s IN ('workspace', 'pool', 'user')
    GROUP BY 1, 2, 3
    -- end only
), matching AS MATERIALIZED (
    -- Names are looked up here only where they decide; else those of the rows that are shown, below.
    SELECT
        l.*, CASE WHEN %(descending)s THEN -1 ELSE 1 END * CASE %(sort)s
            WHEN 'lost' THEN idle + stalled + starting + restart + failure + preemption + waiting WHEN 'held' THEN productive + idle + held_stalled + starting + restart + held_failure + held_preemption
            WHEN 'productive' THEN productive WHEN 'goodput' THEN productive::numeric / nullif(productive + idle + held_stalled + starting + restart + held_failure + held_preemption, 0)
            WHEN 'waiting' THEN stalled + failure + preemption + waiting - held_stalled - held_failure - held_preemption
            WHEN 'idle' THEN idle WHEN 'stalled' THEN stalled WHEN 'starting' THEN starting WHEN 'restart' THEN restart WHEN 'failure' THEN failure WHEN 'preemption' THEN preemption END AS place
    FROM ledgers AS l
    -- only search: on
    LEFT JOIN ledger_workspace AS w ON %(by)s = 'workspace' AND %(q)s <> '' AND w.id = l.id
    LEFT JOIN ledger_run AS r ON %(by)s = 'run' AND %(q)s <> '' AND r.id = l.id
    LEFT JOIN ledger_machine AS m ON %(by)s = 'machine' AND %(q)s <> '' AND m.id = l.id
    LEFT JOIN ledger_pool AS o ON %(by)s = 'pool' AND %(q)s <> '' AND o.id = l.id
    -- end only
    WHERE (productive <> 0 OR idle <> 0 OR stalled <> 0 OR starting <> 0 OR restart <> 0 OR failure <> 0 OR preemption <> 0 OR waiting <> 0)
    -- only search: on
      AND (%(q)s = '' OR strpos(lower(
        CASE %(by)s WHEN 'workspace' THEN w.name WHEN 'run' THEN r.name WHEN 'machine' THEN m.name
            WHEN 'pool' THEN o.name ELSE l.said END
    ), lower(%(q)s)) > 0)
    -- end only
), edges AS MATERIALIZED (
    -- The place of the last row asked for; null = fewer rows than that, or rows without a place.
    SELECT bucket, (
        SELECT place FROM matching AS m WHERE m.bucket = b.bucket
        ORDER BY place NULLS LAST OFFSET %(offset)s::numeric + %(limit)s - 1 LIMIT 1
    ) AS place
    FROM (SELECT DISTINCT bucket FROM matching) AS b
), near AS (
    -- The rows asked for and those before them, with all that stand at the same place; the others are not sorted.
    SELECT m.*, rank() OVER (PARTITION BY m.bucket ORDER BY m.place NULLS LAST) AS rough
    FROM matching AS m
    JOIN edges AS e ON e.bucket = m.bucket
    WHERE e.place IS NULL OR m.place <= e.place
), named AS (
    SELECT
        CASE %(by)s
            WHEN 'workspace' THEN (SELECT name FROM ledger_workspace AS w WHERE w.id = l.id)
            WHEN 'run' THEN (SELECT name FROM ledger_run AS r WHERE r.id = l.id)
            WHEN 'machine' THEN (SELECT name FROM ledger_machine AS m WHERE m.id = l.id)
            WHEN 'pool' THEN (SELECT name FROM ledger_pool AS o WHERE o.id = l.id)
            ELSE l.said END AS name,
        CASE %(by)s WHEN 'run' THEN (SELECT uid FROM ledger_run AS r WHERE r.id = l.id) ELSE '' END AS uid,
        CASE %(by)s WHEN 'run' THEN (
            SELECT w.name FROM ledger_run AS r JOIN ledger_workspace AS w ON w.id = r.workspace_id WHERE r.id = l.id
        ) ELSE '' END AS workspace,
        CASE %(by)s WHEN 'machine' THEN (
            SELECT o.name FROM ledger_machine AS m JOIN ledger_pool AS o ON o.id = coalesce(nullif(l.pool_id, 0), m.pool_id)
            WHERE m.id = l.id
        ) ELSE '' END AS pool,
        coalesce(CASE %(by)s
            WHEN 'machine' THEN (SELECT k.name FROM ledger_machine AS m JOIN ledger_cluster AS k ON k.id = m.cluster_id WHERE m.id = l.id)
            WHEN 'pool' THEN (SELECT k.name FROM ledger_pool AS o JOIN ledger_cluster AS k ON k.id = o.cluster_id WHERE o.id = l.id)
        END, '') AS cluster,
        l.*
    FROM near AS l
    WHERE rough <= %(offset)s::numeric + %(limit)s
), placed AS (
    SELECT *, row_number() OVER (
        PARTITION BY bucket
        ORDER BY
            rough, CASE WHEN %(sort)s = 'name' AND %(descending)s THEN name END DESC, name, uid, id
    ) AS rank
    FROM named
)
SELECT
    'envelope' AS kind, 0 AS bucket, 0 AS rank,
    -- the currency of prices, where there are any and all are in one
    (SELECT CASE WHEN count(DISTINCT g.currency) = 1 THEN min(g.currency) ELSE '' END
     FROM clock AS k
     JOIN ledger_pool AS o ON o.cluster_id = k.id
     JOIN ledger_price AS c ON c.pool_id = o.id AND c.micros > 0
     JOIN ledger_cluster AS x ON x.id = k.id
     JOIN ledger_organization AS g ON g.id = x.organization_id) AS name,
    '' AS uid, '' AS workspace, '' AS pool, '' AS cluster,
    coalesce(ledger_ms(min(until)), ledger_ms(clock_timestamp())), coalesce(bool_and(final_to >= ledger_at(%(end)s)), false)::int,
    (SELECT ledger_ms(max(v.revised_at)) FROM ledger_revision AS v JOIN clock AS k ON k.id = v.cluster_id
     WHERE v.hour >= ledger_at(%(start)s) AND v.hour < ledger_at(%(end)s)),
    -- whether any of the clusters expects readings of its GPUs now
    (SELECT coalesce(bool_or(coalesce(
        (SELECT u.readings_expected FROM ledger_clusterrule AS u
         WHERE u.cluster_id = k.id AND u.since <= clock_timestamp() ORDER BY u.since DESC LIMIT 1), true
     )), true) FROM clock AS k)::int,
    (SELECT count(*) FROM ledger_cluster WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(seen)s::bigint[]))), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0::bigint
FROM clock
UNION ALL
SELECT
    'total', bucket, count(*), '', '', '', '', '',
    sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive),
    sum(productive), sum(idle), sum(held_stalled), sum(starting), sum(restart), sum(held_failure), sum(held_preemption), 0, 0
FROM matching GROUP BY bucket
UNION ALL
SELECT
    'row', bucket, rank, name, uid, workspace, pool, cluster,
    productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive,
    productive, idle, held_stalled, starting, restart, held_failure, held_preemption, 0, coalesce(id, 0)
FROM placed WHERE rank > %(offset)s AND rank <= %(offset)s::numeric + %(limit)s
ORDER BY kind, bucket, rank;
