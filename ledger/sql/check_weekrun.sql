-- Week × run that differ from the sum of their days; the week that the edge cuts may still have days before it.
WITH told AS (
    SELECT date_trunc('week', day, 'UTC') AS week, run_id, pool_id, held, sum(productive) AS productive, sum(idle) AS idle, sum(stalled) AS stalled, sum(starting) AS starting, sum(restart) AS restart, sum(failure) AS failure, sum(preemption) AS preemption, sum(waiting) AS waiting, sum(unobserved) AS unobserved, sum(unobserved_productive) AS unobserved_productive
    FROM ledger_dayrun WHERE cluster_id = %(cluster)s AND day >= ledger_at(%(edge)s)
    GROUP BY 1, 2, 3, 4
), kept AS (
    SELECT week, run_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive FROM ledger_weekrun WHERE cluster_id = %(cluster)s AND week >= ledger_at(%(edge)s)
)
SELECT coalesce(k.week, t.week)::text, coalesce(k.run_id, t.run_id)::text, coalesce(k.pool_id, t.pool_id)::text, coalesce(k.held, t.held)::text
FROM kept AS k
FULL JOIN told AS t USING (week, run_id, pool_id, held)
WHERE coalesce(k.week, t.week) >= ledger_at(%(edge)s) AND (k.productive, k.idle, k.stalled, k.starting, k.restart, k.failure, k.preemption, k.waiting, k.unobserved, k.unobserved_productive) IS DISTINCT FROM (t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting, t.unobserved, t.unobserved_productive)
ORDER BY 1, 2, 3, 4;
