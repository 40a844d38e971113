-- Signed postings to closed hours of runs that the caller has locked. An upsert would check the bare difference,
-- which may be negative; so what is there is updated first and only the rest inserted.
WITH d AS MATERIALIZED (
    SELECT ledger_at(hour_ms) AS hour, t.*
    FROM unnest(
        %(hours)s::bigint[], %(runs)s::bigint[], %(machines)s::bigint[], %(pools)s::bigint[],
        %(productive)s::bigint[],
        %(idle)s::bigint[],
        %(stalled)s::bigint[],
        %(starting)s::bigint[],
        %(restart)s::bigint[],
        %(failure)s::bigint[],
        %(preemption)s::bigint[],
        %(waiting)s::bigint[],
        %(unobserved)s::bigint[],
        %(unobserved_productive)s::bigint[]
    ) AS t (hour_ms, run_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
), changed AS (
    UPDATE ledger_hour AS h SET
        productive = nullif(coalesce(h.productive, 0) + d.productive, 0),
        idle = nullif(coalesce(h.idle, 0) + d.idle, 0),
        stalled = nullif(coalesce(h.stalled, 0) + d.stalled, 0),
        starting = nullif(coalesce(h.starting, 0) + d.starting, 0),
        restart = nullif(coalesce(h.restart, 0) + d.restart, 0),
        failure = nullif(coalesce(h.failure, 0) + d.failure, 0),
        preemption = nullif(coalesce(h.preemption, 0) + d.preemption, 0),
        waiting = nullif(coalesce(h.waiting, 0) + d.waiting, 0),
        unobserved = nullif(coalesce(h.unobserved, 0) + d.unobserved, 0),
        unobserved_productive = nullif(coalesce(h.unobserved_productive, 0) + d.unobserved_productive, 0)
    FROM d
    WHERE h.cluster_id = %(cluster)s AND h.hour = d.hour
      AND h.run_id = d.run_id AND h.machine_id = d.machine_id AND h.pool_id = d.pool_id
      AND h.hour >= ledger_at(%(first)s) AND h.hour <= ledger_at(%(last)s)
    RETURNING h.hour, h.run_id, h.machine_id, h.pool_id
)
INSERT INTO ledger_hour (
    cluster_id, hour, run_id, machine_id, pool_id,
    productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive
)
SELECT
    %(cluster)s, hour, run_id, machine_id, pool_id,
    nullif(productive, 0), nullif(idle, 0), nullif(stalled, 0), nullif(starting, 0), nullif(restart, 0), nullif(failure, 0), nullif(preemption, 0), nullif(waiting, 0), nullif(unobserved, 0), nullif(unobserved_productive, 0)
FROM d
WHERE NOT EXISTS (SELECT FROM changed AS c WHERE (c.hour, c.run_id, c.machine_id, c.pool_id) = (d.hour, d.run_id, d.machine_id, d.pool_id))
ORDER BY hour, run_id, machine_id, pool_id;
