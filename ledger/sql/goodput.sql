-- Ledgers by a grouping, and their totals, over the whole hours [start, end), by ISO week if asked: one snapshot, evaluated
-- at the cluster's clock. Parts: day roll-ups where one has all that is asked, closed hours for the rest, open cells.
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
    SELECT d.day AS at, r.workspace_id, p.run_id, r."user", 0::bigint AS machine_id, 0::bigint AS pool_id, p.held, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM days AS d
    JOIN ledger_dayrun AS p ON p.cluster_id = d.cluster_id AND p.day = d.day
    JOIN ledger_run AS r ON r.id = p.run_id
    WHERE %(rollup)s = 'run'
    UNION ALL
    SELECT d.day, p.workspace_id, 0, '', p.machine_id, p.pool_id, p.machine_id <> 0, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM days AS d
    JOIN ledger_daymachine AS p ON p.cluster_id = d.cluster_id AND p.day = d.day
    WHERE %(rollup)s = 'machine'
    UNION ALL
    SELECT d.day, p.workspace_id, 0, '', 0, p.pool_id, p.held, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting, p.unobserved, p.unobserved_productive
    FROM days AS d
    JOIN ledger_daypool AS p ON p.cluster_id = d.cluster_id AND p.day = d.day
    WHERE %(rollup)s = 'pool'
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
), ledgers AS (
    SELECT
        CASE WHEN %(weekly)s THEN ledger_ms(date_trunc('week', p.at, 'UTC')) ELSE %(start)s END AS bucket,
        CASE %(by)s WHEN 'workspace' THEN p.workspace_id WHEN 'run' THEN p.run_id WHEN 'machine' THEN p.machine_id
            WHEN 'pool' THEN p.pool_id END AS id,
        CASE %(by)s WHEN 'user' THEN p."user" END AS said,
        CASE WHEN max(p.machine_id) <> 0 THEN max(p.pool_id) ELSE 0 END AS pool_id,
        coalesce(sum(p.productive), 0) AS productive, coalesce(sum(p.idle), 0) AS idle, coalesce(sum(p.stalled), 0) AS stalled, coalesce(sum(p.starting), 0) AS starting, coalesce(sum(p.restart), 0) AS restart, coalesce(sum(p.failure), 0) AS failure, coalesce(sum(p.preemption), 0) AS preemption, coalesce(sum(p.waiting), 0) AS waiting, coalesce(sum(p.unobserved), 0) AS unobserved, coalesce(sum(p.unobserved_productive), 0) AS unobserved_productive,
        coalesce(sum(p.productive) FILTER (WHERE p.held), 0) AS held_productive, coalesce(sum(p.idle) FILTER (WHERE p.held), 0) AS held_idle, coalesce(sum(p.stalled) FILTER (WHERE p.held), 0) AS held_stalled, coalesce(sum(p.starting) FILTER (WHERE p.held), 0) AS held_starting, coalesce(sum(p.restart) FILTER (WHERE p.held), 0) AS held_restart, coalesce(sum(p.failure) FILTER (WHERE p.held), 0) AS held_failure, coalesce(sum(p.preemption) FILTER (WHERE p.held), 0) AS held_preemption, coalesce(sum(p.waiting) FILTER (WHERE p.held), 0) AS held_waiting
    FROM parts AS p
    WHERE p.workspace_id = ANY (%(workspaces)s::bigint[])
      -- Arrays, not IN: so the parts are read by their indexes.
      AND (%(workspace)s = '' OR p.workspace_id = ANY (ARRAY(SELECT id FROM ledger_workspace WHERE name = %(workspace)s)))
      AND (%(user)s = '' OR p."user" = %(user)s OR (%(user)s = 'none' AND p."user" = ''))
      AND (%(run)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE name = %(run)s OR uid = %(run)s)))
      AND (%(uid)s = '' OR p.run_id = ANY (ARRAY(SELECT id FROM ledger_run WHERE uid = %(uid)s)))
      AND (%(machine)s = '' OR p.machine_id = ANY (ARRAY(SELECT id FROM ledger_machine WHERE name = %(machine)s)))
      AND (%(pool)s = '' OR p.pool_id = ANY (ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s)))
    GROUP BY 1, 2, 3
    HAVING sum(coalesce(p.productive, 0) + coalesce(p.idle, 0) + coalesce(p.stalled, 0) + coalesce(p.starting, 0) + coalesce(p.restart, 0) + coalesce(p.failure, 0) + coalesce(p.preemption, 0) + coalesce(p.waiting, 0)) <> 0
), named AS (
    SELECT
        CASE %(by)s WHEN 'workspace' THEN w.name WHEN 'run' THEN r.name WHEN 'machine' THEN m.name
            WHEN 'pool' THEN o.name ELSE coalesce(nullif(l.said, ''), 'none') END AS name,
        CASE %(by)s WHEN 'run' THEN r.uid ELSE '' END AS uid,
        CASE %(by)s WHEN 'run' THEN rw.name ELSE '' END AS workspace,
        CASE %(by)s WHEN 'machine' THEN mo.name ELSE '' END AS pool,
        l.*,
        l.productive + l.idle + l.stalled + l.starting + l.restart + l.failure + l.preemption + l.waiting AS asked, l.held_productive + l.held_idle + l.held_stalled + l.held_starting + l.held_restart + l.held_failure + l.held_preemption + l.held_waiting AS allocated
    FROM ledgers AS l
    LEFT JOIN ledger_workspace AS w ON %(by)s = 'workspace' AND w.id = l.id
    LEFT JOIN ledger_run AS r ON %(by)s = 'run' AND r.id = l.id
    LEFT JOIN ledger_workspace AS rw ON rw.id = r.workspace_id
    LEFT JOIN ledger_machine AS m ON %(by)s = 'machine' AND m.id = l.id
    LEFT JOIN ledger_pool AS mo ON mo.id = coalesce(nullif(l.pool_id, 0), m.pool_id)
    LEFT JOIN ledger_pool AS o ON %(by)s = 'pool' AND o.id = l.id
), matching AS (
    SELECT *, CASE %(sort)s WHEN 'held' THEN allocated WHEN 'lost' THEN asked - productive
        WHEN 'productive' THEN productive WHEN 'goodput' THEN productive / nullif(allocated, 0)
        WHEN 'waiting' THEN asked - allocated
        WHEN 'idle' THEN idle WHEN 'stalled' THEN stalled WHEN 'starting' THEN starting WHEN 'restart' THEN restart WHEN 'failure' THEN failure WHEN 'preemption' THEN preemption END AS place
    FROM named WHERE %(q)s = '' OR strpos(lower(name), lower(%(q)s)) > 0
), placed AS (
    SELECT *, row_number() OVER (
        PARTITION BY bucket
        ORDER BY
            CASE WHEN %(descending)s THEN -place ELSE place END NULLS LAST,
            CASE WHEN %(sort)s = 'name' AND %(descending)s THEN name END DESC, name, uid, id
    ) AS rank
    FROM matching
)
SELECT
    'envelope' AS kind, 0 AS bucket, 0 AS rank, '' AS name, '' AS uid, '' AS workspace, '' AS pool,
    coalesce(ledger_ms(min(until)), ledger_ms(clock_timestamp())), coalesce(bool_and(final_to >= ledger_at(%(end)s)), false)::int,
    (SELECT ledger_ms(max(v.revised_at)) FROM ledger_revision AS v JOIN clock AS k ON k.id = v.cluster_id
     WHERE v.hour >= ledger_at(%(start)s) AND v.hour < ledger_at(%(end)s)),
    -- whether any of the clusters expects readings of its GPUs now
    (SELECT coalesce(bool_or(coalesce(
        (SELECT u.readings_expected FROM ledger_clusterrule AS u
         WHERE u.cluster_id = k.id AND u.since <= clock_timestamp() ORDER BY u.since DESC LIMIT 1), true
     )), true) FROM clock AS k)::int,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
FROM clock
UNION ALL
SELECT
    'total', bucket, count(*), '', '', '', '',
    sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive),
    sum(held_productive), sum(held_idle), sum(held_stalled), sum(held_starting), sum(held_restart), sum(held_failure), sum(held_preemption), sum(held_waiting)
FROM matching GROUP BY bucket
UNION ALL
SELECT
    'row', bucket, rank, name, uid, workspace, pool,
    productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive,
    held_productive, held_idle, held_stalled, held_starting, held_restart, held_failure, held_preemption, held_waiting
FROM placed WHERE rank > %(offset)s AND rank <= %(offset)s::numeric + %(limit)s
ORDER BY kind, bucket, rank;
