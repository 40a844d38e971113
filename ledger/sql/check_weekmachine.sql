-- Week × machine that differ from the sum of their days; the week that the edge cuts may still have days before it.
WITH told AS (
    SELECT date_trunc('week', day, 'UTC') AS week, workspace_id, machine_id, pool_id, sum(productive) AS productive, sum(idle) AS idle, sum(stalled) AS stalled, sum(starting) AS starting, sum(restart) AS restart, sum(failure) AS failure, sum(preemption) AS preemption, sum(waiting) AS waiting, sum(unobserved) AS unobserved, sum(unobserved_productive) AS unobserved_productive
    FROM ledger_daymachine WHERE cluster_id = %(cluster)s AND day >= ledger_at(%(edge)s)
    GROUP BY 1, 2, 3, 4
), kept AS (
    SELECT week, workspace_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive FROM ledger_weekmachine WHERE cluster_id = %(cluster)s AND week >= ledger_at(%(edge)s)
)
SELECT coalesce(k.week, t.week)::text, coalesce(k.workspace_id, t.workspace_id)::text, coalesce(k.machine_id, t.machine_id)::text, coalesce(k.pool_id, t.pool_id)::text
FROM kept AS k
FULL JOIN told AS t USING (week, workspace_id, machine_id, pool_id)
WHERE coalesce(k.week, t.week) >= ledger_at(%(edge)s) AND (k.productive, k.idle, k.stalled, k.starting, k.restart, k.failure, k.preemption, k.waiting, k.unobserved, k.unobserved_productive) IS DISTINCT FROM (t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting, t.unobserved, t.unobserved_productive)
ORDER BY 1, 2, 3, 4;
