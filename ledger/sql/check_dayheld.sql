-- Day × run × pool of the days [lower, upper) that differ from the sum of their hours; dirty days are left out.
WITH told AS (
    SELECT
        date_trunc('day', h.hour, 'UTC') AS day, h.run_id, h.pool_id,
        sum(coalesce(h.productive, 0) + coalesce(h.idle, 0) + coalesce(h.stalled, 0) + coalesce(h.starting, 0) + coalesce(h.restart, 0) + coalesce(h.failure, 0) + coalesce(h.preemption, 0)) AS held,
        sum(coalesce(h.productive, 0)) AS productive
    FROM ledger_hour AS h
    WHERE h.cluster_id = %(cluster)s AND h.hour >= ledger_at(%(lower)s) AND h.hour < ledger_at(%(upper)s)
      AND h.hour < (SELECT ledger_rolled_to(open_hour) FROM ledger_cluster WHERE id = %(cluster)s) AND h.machine_id <> 0
    GROUP BY 1, 2, 3
), kept AS (
    SELECT day, run_id, pool_id, held, productive
    FROM ledger_dayheld
    WHERE cluster_id = %(cluster)s AND day >= ledger_at(%(lower)s) AND day < ledger_at(%(upper)s)
)
SELECT coalesce(k.day, t.day)::text, coalesce(k.run_id, t.run_id)::text, coalesce(k.pool_id, t.pool_id)::text
FROM kept AS k
FULL JOIN told AS t USING (day, run_id, pool_id)
WHERE (k.held, k.productive) IS DISTINCT FROM (t.held, t.productive)
  AND coalesce(k.day, t.day) NOT IN (SELECT day FROM ledger_dirtyday WHERE cluster_id = %(cluster)s)
ORDER BY 1, 2, 3;
