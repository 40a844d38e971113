-- Hour × pool of [lower, upper) that differ from the sum of their hours; dirty hours and days are left out.
WITH told AS (
    SELECT h.hour, coalesce(r.workspace_id, 0) AS workspace_id, h.pool_id, h.machine_id <> 0 AS held, nullif(sum(h.productive), 0) AS productive, nullif(sum(h.idle), 0) AS idle, nullif(sum(h.stalled), 0) AS stalled, nullif(sum(h.starting), 0) AS starting, nullif(sum(h.restart), 0) AS restart, nullif(sum(h.failure), 0) AS failure, nullif(sum(h.preemption), 0) AS preemption, nullif(sum(h.waiting), 0) AS waiting, nullif(sum(h.unobserved), 0) AS unobserved, nullif(sum(h.unobserved_productive), 0) AS unobserved_productive
    FROM ledger_hour AS h
    JOIN ledger_run AS r ON r.id = h.run_id
    WHERE h.cluster_id = %(cluster)s AND h.hour >= ledger_at(%(lower)s) AND h.hour < ledger_at(%(upper)s)
    GROUP BY GROUPING SETS ((1, r.workspace_id, 3, 4), (1, 3, 4))
), kept AS (
    SELECT hour, workspace_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive
    FROM ledger_hourpool
    WHERE cluster_id = %(cluster)s AND hour >= ledger_at(%(lower)s) AND hour < ledger_at(%(upper)s)
)
SELECT coalesce(k.hour, t.hour)::text, coalesce(k.workspace_id, t.workspace_id)::text, coalesce(k.pool_id, t.pool_id)::text, coalesce(k.held, t.held)::text
FROM kept AS k
FULL JOIN told AS t USING (hour, workspace_id, pool_id, held)
WHERE (k.productive, k.idle, k.stalled, k.starting, k.restart, k.failure, k.preemption, k.waiting, k.unobserved, k.unobserved_productive) IS DISTINCT FROM (t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting, t.unobserved, t.unobserved_productive)
  AND coalesce(k.hour, t.hour) < (SELECT open_hour FROM ledger_cluster WHERE id = %(cluster)s)
  AND date_trunc('day', coalesce(k.hour, t.hour), 'UTC') NOT IN (
    SELECT day FROM ledger_dirtyday WHERE cluster_id = %(cluster)s
  )
  AND coalesce(k.hour, t.hour) NOT IN (SELECT hour FROM ledger_dirtyhour WHERE cluster_id = %(cluster)s)
ORDER BY 1, 2, 3, 4;
