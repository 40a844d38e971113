-- A ledger per hour of [start, end), closed and open, of what the filters leave.
WITH clock AS MATERIALIZED (
    SELECT id, open_hour, final_to, least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour') AS until
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
      AND (%(cluster)s = 0 OR id = %(cluster)s)
), hours AS MATERIALIZED (
    -- The closed hours of the window; `summed`: rolled up, and that has all that is asked.
    SELECT k.id AS cluster_id, hour, %(rollup)s = 'pool'
        AND NOT EXISTS (SELECT FROM ledger_dirtyhour AS d WHERE d.cluster_id = k.id AND d.hour = hour.hour)
        AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = k.id AND d.day = date_trunc('day', hour.hour, 'UTC')) AS summed
    FROM clock AS k, generate_series(
        ledger_at(%(start)s), least(ledger_at(%(end)s), k.open_hour) - interval '1 hour', interval '1 hour'
    ) AS hour
), parts AS (
    -- OFFSET 0 keeps each hour a look-up by its key, for how many there are is not known when this is planned.
    SELECT p.hour, p.workspace_id, 0::bigint AS run_id, '' AS "user", 0::bigint AS machine_id, p.pool_id, p.held, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM hours AS h
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hourpool AS p
        WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour AND p.workspace_id = ANY (%(workspaces)s::bigint[]) OFFSET 0
    ) AS p
    WHERE h.summed
    UNION ALL
    SELECT p.hour, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM hours AS h
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hour AS p
        WHERE p.cluster_id = h.cluster_id AND p.hour = h.hour
          -- a window's hours, once more, so that only their months are looked into
          AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s) OFFSET 0
    ) AS p
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE NOT h.summed AND %(machine)s IN ('', 'unplaced', 'unknown') AND %(run)s = '' AND %(uid)s = ''
    UNION ALL
    -- what is asked of one machine or run is found by its own index, which has no machine that many share
    SELECT p.hour, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM ledger_hour AS p
    JOIN clock AS k ON k.id = p.cluster_id
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE %(machine)s NOT IN ('', 'unplaced', 'unknown') AND p.machine_id > 1 AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
    UNION ALL
    SELECT p.hour, r.workspace_id, p.run_id, r."user", p.machine_id, p.pool_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM ledger_hour AS p
    JOIN clock AS k ON k.id = p.cluster_id
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE %(machine)s IN ('', 'unplaced', 'unknown') AND (%(run)s <> '' OR %(uid)s <> '') AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
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
