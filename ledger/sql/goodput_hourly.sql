-- A ledger per hour of [start, end), closed and open, of what the filters leave.
WITH clock AS MATERIALIZED (
    SELECT id, open_hour, final_to, least(greatest(clock_timestamp(), ledger_counted(id)), open_hour + interval '1 hour') AS until
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
      AND (%(cluster)s = 0 OR id = %(cluster)s)
), days AS MATERIALIZED (
    -- Whole days of the window that are over and rolled up; all other closed hours are read one by one.
    SELECT k.id AS cluster_id, day
    FROM clock AS k, generate_series(
        date_trunc('day', ledger_at(%(start)s) + interval '24 hours' - interval '1 microsecond', 'UTC'),
        ledger_at(%(end)s) - interval '24 hours', interval '24 hours'
    ) AS day
    WHERE day + interval '24 hours' <= k.open_hour
      AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = day.day)
      AND %(rollup)s <> ''
), parts AS (
    SELECT p.hour, p.workspace_id, 0::bigint AS run_id, '' AS "user", 0::bigint AS machine_id, p.pool_id, p.held, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM days AS d
    JOIN ledger_hourpool AS p
        ON p.cluster_id = d.cluster_id AND p.hour >= d.day AND p.hour < d.day + interval '24 hours'
    UNION ALL
    SELECT p.hour, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM clock AS k
    JOIN ledger_hour AS p ON p.cluster_id = k.id AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE NOT EXISTS (
        SELECT FROM days AS d WHERE d.cluster_id = p.cluster_id AND d.day = date_trunc('day', p.hour, 'UTC')
    )
    UNION ALL
    SELECT
        k.open_hour, r.workspace_id, c.run_id, r."user", c.machine_id, c.pool_id, c.machine_id <> 0,
        (c.a_productive + c.g_productive * elapsed)::bigint,
        (c.a_idle + c.g_idle * elapsed)::bigint,
        (c.a_stalled + c.g_stalled * elapsed)::bigint,
        (c.a_starting + c.g_starting * elapsed)::bigint,
        (c.a_restart + c.g_restart * elapsed)::bigint,
        (c.a_failure + c.g_failure * elapsed)::bigint,
        (c.a_preemption + c.g_preemption * elapsed)::bigint,
        (c.a_waiting + c.g_waiting * elapsed)::bigint,
        (c.a_unobserved + c.g_unobserved * elapsed)::bigint,
        (c.a_unobserved_productive + c.g_unobserved_productive * elapsed)::bigint
    FROM (SELECT *, ledger_ms(until) - ledger_ms(open_hour) AS elapsed FROM clock) AS k
    JOIN ledger_opencell AS c ON c.cluster_id = k.id
    JOIN ledger_run AS r ON r.id = c.run_id
    WHERE k.open_hour >= ledger_at(%(start)s) AND k.open_hour < ledger_at(%(end)s)
)
SELECT
    ledger_ms(hour),
    coalesce(sum(productive), 0), coalesce(sum(idle), 0), coalesce(sum(stalled), 0), coalesce(sum(starting), 0), coalesce(sum(restart), 0), coalesce(sum(failure), 0), coalesce(sum(preemption), 0), coalesce(sum(waiting), 0), coalesce(sum(unobserved), 0), coalesce(sum(unobserved_productive), 0),
    coalesce(sum(productive) FILTER (WHERE held), 0), coalesce(sum(idle) FILTER (WHERE held), 0), coalesce(sum(stalled) FILTER (WHERE held), 0), coalesce(sum(starting) FILTER (WHERE held), 0), coalesce(sum(restart) FILTER (WHERE held), 0), coalesce(sum(failure) FILTER (WHERE held), 0), coalesce(sum(preemption) FILTER (WHERE held), 0), coalesce(sum(waiting) FILTER (WHERE held), 0)
FROM parts AS p
WHERE p.workspace_id = ANY (%(workspaces)s::bigint[])
  -- Arrays, not IN: so the parts are read by their indexes.
  AND (%(workspace)s = '' OR p.workspace_id = ANY (ARRAY(SELECT id FROM ledger_workspace WHERE name = %(workspace)s)))
  AND (%(user)s = '' OR p."user" = %(user)s OR (%(user)s = 'none' AND p."user" = ''))
  AND (%(run)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE name = %(run)s OR uid = %(run)s)))
  AND (%(uid)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE uid = %(uid)s)))
  AND (%(machine)s = '' OR p.machine_id = ANY (ARRAY(SELECT id FROM ledger_machine WHERE name = %(machine)s)))
  AND (%(pool)s = '' OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
GROUP BY hour
ORDER BY hour;
