-- GPU time by category, and what of it was held, of the runs that go on, since they were submitted: their total over days
-- that are rolled up, less the days of it that have since become dirty, and in their place and after them the closed
-- hours and the open cells. OFFSET 0 keeps each day a look-up by its key. One snapshot.
WITH clock AS MATERIALIZED (
    SELECT id, open_hour, ledger_ms(least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour')) - ledger_ms(open_hour) AS elapsed
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
), open AS MATERIALIZED (
    SELECT
        c.run_id, c.machine_id <> 0 AS held, c.g_productive + c.g_idle + c.g_stalled + c.g_starting + c.g_restart + c.g_failure + c.g_preemption + c.g_waiting > 0 AS going,
        (c.a_productive + c.g_productive * elapsed)::bigint AS productive,
        (c.a_idle + c.g_idle * elapsed)::bigint AS idle,
        (c.a_stalled + c.g_stalled * elapsed)::bigint AS stalled,
        (c.a_starting + c.g_starting * elapsed)::bigint AS starting,
        (c.a_restart + c.g_restart * elapsed)::bigint AS restart,
        (c.a_failure + c.g_failure * elapsed)::bigint AS failure,
        (c.a_preemption + c.g_preemption * elapsed)::bigint AS preemption,
        (c.a_waiting + c.g_waiting * elapsed)::bigint AS waiting
    FROM clock AS k
    JOIN ledger_opencell AS c ON c.cluster_id = k.id
    JOIN ledger_run AS r ON r.id = c.run_id
    WHERE r.workspace_id = ANY (%(workspaces)s::bigint[])
), going AS MATERIALIZED (
    SELECT DISTINCT run_id FROM open WHERE going
), single AS MATERIALIZED (
    -- Days whose hours are read one by one: dirty ones, and the one that is not over.
    SELECT d.cluster_id, d.day FROM ledger_dirtyday AS d JOIN clock AS k ON k.id = d.cluster_id
    UNION
    SELECT id, date_trunc('day', open_hour, 'UTC') FROM clock
), parts AS (
    SELECT t.run_id, t.held, 1 AS sign, t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting
    FROM ledger_runtotal AS t WHERE t.run_id IN (SELECT run_id FROM going)
    UNION ALL
    SELECT p.run_id, p.held, -1, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
    FROM single AS d
    CROSS JOIN LATERAL (SELECT * FROM ledger_dayrun AS p WHERE p.cluster_id = d.cluster_id AND p.day = d.day OFFSET 0) AS p
    UNION ALL
    SELECT p.run_id, p.machine_id <> 0, 1, p.productive, p.idle, p.stalled, p.starting, p.restart, p.failure, p.preemption, p.waiting
    FROM single AS d
    CROSS JOIN LATERAL (
        SELECT * FROM ledger_hour AS p
        WHERE p.cluster_id = d.cluster_id AND p.hour >= d.day AND p.hour < d.day + interval '24 hours' OFFSET 0
    ) AS p
    UNION ALL
    SELECT run_id, held, 1, productive, idle, stalled, starting, restart, failure, preemption, waiting FROM open
), ledgers AS (
    SELECT
        run_id,
        coalesce(sum(sign * productive), 0)::bigint AS productive, coalesce(sum(sign * idle), 0)::bigint AS idle, coalesce(sum(sign * stalled), 0)::bigint AS stalled, coalesce(sum(sign * starting), 0)::bigint AS starting, coalesce(sum(sign * restart), 0)::bigint AS restart, coalesce(sum(sign * failure), 0)::bigint AS failure, coalesce(sum(sign * preemption), 0)::bigint AS preemption, coalesce(sum(sign * waiting), 0)::bigint AS waiting,
        coalesce(sum(sign * (coalesce(productive, 0) + coalesce(idle, 0) + coalesce(stalled, 0) + coalesce(starting, 0) + coalesce(restart, 0) + coalesce(failure, 0) + coalesce(preemption, 0) + coalesce(waiting, 0))) FILTER (WHERE held), 0)::bigint AS held
    FROM parts WHERE run_id IN (SELECT run_id FROM going)
    GROUP BY run_id
)
SELECT r.name, r.uid, o.name, l.held, l.productive, l.idle, l.stalled, l.starting, l.restart, l.failure, l.preemption, l.waiting
FROM ledgers AS l
JOIN ledger_run AS r ON r.id = l.run_id
JOIN ledger_workspace AS o ON o.id = r.workspace_id;
