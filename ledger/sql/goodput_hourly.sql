-- Ledgers of stretches of `size` ms of [start, end), closed hours and open ones, of what the filters leave, and what was held
-- and productive hour by hour in each. Where `told` is sums, hours need not be told apart: a day that is rolled up is read as
-- one. Time on machines is held, so productive, idle, starting and restart always are and waiting never is. OFFSET 0 keeps
-- each day, hour and run a look-up by its key, for how many there are is not known when this is planned; what is looked up
-- is summed at once, for there are a hundred rows an hour. Where the organization is seen as a whole, pools are read as of
-- workspace 0.
-- Prepared for each lookup, told, whole, on_machine, in_pool, without workspace, run, uid, user, cluster_name.
WITH clock AS MATERIALIZED (
    SELECT id, open_hour, least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour') AS until
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
      AND (%(cluster)s = 0 OR id = %(cluster)s) AND (%(cluster_name)s = '' OR name = %(cluster_name)s)
), seen AS MATERIALIZED (
    SELECT id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]) AND (%(workspace)s = '' OR name = %(workspace)s)
-- only lookup: pool
), days AS MATERIALIZED (
    -- Whole days of the window that are over and rolled up.
    SELECT k.id AS cluster_id, day
    FROM clock AS k, generate_series(
        date_trunc('day', ledger_at(%(start)s) + interval '24 hours' - interval '1 millisecond', 'UTC'),
        least(date_trunc('day', ledger_at(%(end)s), 'UTC'), date_trunc('day', k.open_hour, 'UTC')) - interval '24 hours',
        interval '24 hours'
    ) AS day
    WHERE %(lookup)s = 'pool' AND %(told)s = 'sums'
      AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = day.day)
), hours AS MATERIALIZED (
    -- All other hours that are closed; `summed`: rolled up, and that has all that is asked.
    SELECT k.id AS cluster_id, hour,
        NOT EXISTS (SELECT FROM ledger_dirtyhour AS d WHERE d.cluster_id = k.id AND d.hour = hour.hour)
        AND (k.id, date_trunc('day', hour.hour, 'UTC')) NOT IN (
            SELECT c.id, d.day FROM clock AS c JOIN ledger_dirtyday AS d ON d.cluster_id = c.id AND d.day < date_trunc('day', c.open_hour, 'UTC')
        ) AS summed
    FROM clock AS k, generate_series(
        ledger_at(%(start)s), least(ledger_at(%(end)s), k.open_hour) - interval '1 hour', interval '1 hour'
    ) AS hour
    WHERE %(lookup)s = 'pool' AND NOT EXISTS (SELECT FROM days AS d WHERE d.cluster_id = k.id AND d.day = date_trunc('day', hour.hour, 'UTC'))
-- end only
), parts (hour, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive, held_stalled, held_failure, held_preemption) AS (
    -- only lookup: pool
    SELECT d.day, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, p.held_stalled, p.held_failure, p.held_preemption
    FROM days AS d
    CROSS JOIN LATERAL (
        SELECT ledger_sum(p.productive) AS productive, ledger_sum(p.idle) AS idle, ledger_sum(p.stalled) AS stalled, ledger_sum(p.starting) AS starting, ledger_sum(p.restart) AS restart, ledger_sum(p.failure) AS failure, ledger_sum(p.preemption) AS preemption, ledger_sum(p.waiting) AS waiting, ledger_sum(p.unobserved) AS unobserved, ledger_sum(p.unobserved_productive) AS unobserved_productive, ledger_sum(p.stalled) FILTER (WHERE p.held) AS held_stalled, ledger_sum(p.failure) FILTER (WHERE p.held) AS held_failure, ledger_sum(p.preemption) FILTER (WHERE p.held) AS held_preemption
        FROM ledger_daypool AS p
        WHERE p.cluster_id = d.cluster_id AND p.day = d.day AND p.workspace_id = ANY (CASE WHEN %(whole)s THEN '{0}' ELSE ARRAY(SELECT id FROM seen) END)
          AND (NOT %(in_pool)s OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
        HAVING count(*) > 0
    ) AS p
    WHERE %(lookup)s = 'pool'
    UNION ALL
    SELECT h.hour, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, p.held_stalled, p.held_failure, p.held_preemption
    FROM hours AS h
    CROSS JOIN LATERAL (
        SELECT ledger_sum(p.productive) AS productive, ledger_sum(p.idle) AS idle, ledger_sum(p.stalled) AS stalled, ledger_sum(p.starting) AS starting, ledger_sum(p.restart) AS restart, ledger_sum(p.failure) AS failure, ledger_sum(p.preemption) AS preemption, ledger_sum(p.waiting) AS waiting, ledger_sum(p.unobserved) AS unobserved, ledger_sum(p.unobserved_productive) AS unobserved_productive, ledger_sum(p.stalled) FILTER (WHERE p.held) AS held_stalled, ledger_sum(p.failure) FILTER (WHERE p.held) AS held_failure, ledger_sum(p.preemption) FILTER (WHERE p.held) AS held_preemption
        FROM ledger_hourpool AS p
        WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour AND p.workspace_id = ANY (CASE WHEN %(whole)s THEN '{0}' ELSE ARRAY(SELECT id FROM seen) END)
          AND (NOT %(in_pool)s OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
        HAVING count(*) > 0
    ) AS p
    WHERE %(lookup)s = 'pool' AND h.summed
    UNION ALL
    SELECT h.hour, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN p.machine_id <> 0 THEN p.stalled END, CASE WHEN p.machine_id <> 0 THEN p.failure END, CASE WHEN p.machine_id <> 0 THEN p.preemption END
    FROM hours AS h
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hour AS p
        WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour
          -- a window's hours, once more, so that only their months are looked into
          AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
          AND (NOT %(in_pool)s OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
        OFFSET 0
    ) AS p
    CROSS JOIN LATERAL (SELECT workspace_id FROM ledger_run AS r WHERE r.id = p.run_id OFFSET 0) AS r
    WHERE %(lookup)s = 'pool' AND NOT h.summed AND r.workspace_id = ANY (ARRAY(SELECT id FROM seen))
    -- end only
    -- only lookup: hours
    UNION ALL
    SELECT p.hour, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN p.machine_id <> 0 THEN p.stalled END, CASE WHEN p.machine_id <> 0 THEN p.failure END, CASE WHEN p.machine_id <> 0 THEN p.preemption END
    FROM ledger_hour AS p
    JOIN clock AS k ON k.id = p.cluster_id
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE %(lookup)s = 'hours' AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
      AND r.workspace_id = ANY (ARRAY(SELECT id FROM seen))
      AND (NOT %(on_machine)s OR p.machine_id = ANY (ARRAY(SELECT id FROM ledger_machine WHERE name = %(machine)s)))
      AND (NOT %(in_pool)s OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
      AND (%(user)s = '' OR r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
    -- end only
    -- only lookup: machine run
    UNION ALL
    -- what is asked of one machine or run is found by its own index, which has no machine that many share
    SELECT p.hour, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive, CASE WHEN p.machine_id <> 0 THEN p.stalled END, CASE WHEN p.machine_id <> 0 THEN p.failure END, CASE WHEN p.machine_id <> 0 THEN p.preemption END
    FROM ledger_hour AS p
    JOIN clock AS k ON k.id = p.cluster_id
    CROSS JOIN LATERAL (SELECT workspace_id, "user" FROM ledger_run AS r WHERE r.id = p.run_id OFFSET 0) AS r
    WHERE %(lookup)s IN ('machine', 'run') AND (%(lookup)s = 'run' OR p.machine_id > 1) AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
      AND r.workspace_id = ANY (ARRAY(SELECT id FROM seen))
      AND (%(run)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE name = %(run)s OR uid = %(run)s)))
      AND (%(uid)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE uid = %(uid)s)))
      AND (NOT %(on_machine)s OR p.machine_id = ANY (ARRAY(SELECT id FROM ledger_machine WHERE name = %(machine)s)))
      AND (NOT %(in_pool)s OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
      AND (%(user)s = '' OR r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
    -- end only
    UNION ALL
    SELECT k.open_hour, p.a_productive + p.g_productive * k.elapsed, p.a_idle + p.g_idle * k.elapsed, p.a_stalled + p.g_stalled * k.elapsed, p.a_starting + p.g_starting * k.elapsed, p.a_restart + p.g_restart * k.elapsed, p.a_failure + p.g_failure * k.elapsed, p.a_preemption + p.g_preemption * k.elapsed, p.a_waiting + p.g_waiting * k.elapsed, p.a_unobserved + p.g_unobserved * k.elapsed, p.a_unobserved_productive + p.g_unobserved_productive * k.elapsed, CASE WHEN p.held THEN p.a_stalled + p.g_stalled * k.elapsed END, CASE WHEN p.held THEN p.a_failure + p.g_failure * k.elapsed END, CASE WHEN p.held THEN p.a_preemption + p.g_preemption * k.elapsed END
    FROM (SELECT *, ledger_ms(until) - ledger_ms(open_hour) AS elapsed FROM clock) AS k
    CROSS JOIN LATERAL (
        SELECT
            p.machine_id <> 0 AS held,
            ledger_sum(p.a_productive) AS a_productive, ledger_sum(p.g_productive) AS g_productive,
            ledger_sum(p.a_idle) AS a_idle, ledger_sum(p.g_idle) AS g_idle,
            ledger_sum(p.a_stalled) AS a_stalled, ledger_sum(p.g_stalled) AS g_stalled,
            ledger_sum(p.a_starting) AS a_starting, ledger_sum(p.g_starting) AS g_starting,
            ledger_sum(p.a_restart) AS a_restart, ledger_sum(p.g_restart) AS g_restart,
            ledger_sum(p.a_failure) AS a_failure, ledger_sum(p.g_failure) AS g_failure,
            ledger_sum(p.a_preemption) AS a_preemption, ledger_sum(p.g_preemption) AS g_preemption,
            ledger_sum(p.a_waiting) AS a_waiting, ledger_sum(p.g_waiting) AS g_waiting,
            ledger_sum(p.a_unobserved) AS a_unobserved, ledger_sum(p.g_unobserved) AS g_unobserved,
            ledger_sum(p.a_unobserved_productive) AS a_unobserved_productive, ledger_sum(p.g_unobserved_productive) AS g_unobserved_productive
        FROM ledger_opencell AS p
        WHERE p.cluster_id = k.id AND p.workspace_id = ANY (ARRAY(SELECT id FROM seen))
          AND (%(run)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE name = %(run)s OR uid = %(run)s)))
          AND (%(uid)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE uid = %(uid)s)))
          AND (NOT %(on_machine)s OR p.machine_id = ANY (ARRAY(SELECT id FROM ledger_machine WHERE name = %(machine)s)))
          AND (NOT %(in_pool)s OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
          AND (%(user)s = '' OR EXISTS (
              SELECT FROM ledger_run AS r WHERE r.id = p.run_id AND (r."user" = %(user)s OR (%(user)s = 'none' AND r."user" = ''))
          ))
        GROUP BY 1
    ) AS p
    WHERE k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s)
), sums AS (
    SELECT
        ledger_ms(hour) AS hour,
        coalesce(ledger_sum(productive), 0) AS productive,
        coalesce(ledger_sum(idle), 0) AS idle,
        coalesce(ledger_sum(stalled), 0) AS stalled,
        coalesce(ledger_sum(starting), 0) AS starting,
        coalesce(ledger_sum(restart), 0) AS restart,
        coalesce(ledger_sum(failure), 0) AS failure,
        coalesce(ledger_sum(preemption), 0) AS preemption,
        coalesce(ledger_sum(waiting), 0) AS waiting,
        coalesce(ledger_sum(unobserved), 0) AS unobserved,
        coalesce(ledger_sum(unobserved_productive), 0) AS unobserved_productive,
        coalesce(ledger_sum(held_stalled), 0) AS held_stalled,
        coalesce(ledger_sum(held_failure), 0) AS held_failure,
        coalesce(ledger_sum(held_preemption), 0) AS held_preemption
    FROM parts
    GROUP BY 1
)
SELECT
    hour - mod(hour - %(start)s, %(size)s),
    sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive),
    sum(productive), sum(idle), sum(held_stalled), sum(starting), sum(restart), sum(held_failure), sum(held_preemption), 0,
    array_agg(hour ORDER BY hour),
    array_agg(productive + idle + held_stalled + starting + restart + held_failure + held_preemption ORDER BY hour),
    array_agg(productive ORDER BY hour)
FROM sums
GROUP BY 1
ORDER BY 1;
