-- What each workspace and each pool of a cluster held in an hour and in the 24 hours before it, and what of it was productive
-- and unobserved.
WITH cells AS (
    SELECT
        r.workspace_id, h.pool_id, h.hour = ledger_at(%(hour)s) AS is_hour,
        sum(coalesce(productive, 0) + coalesce(idle, 0) + coalesce(stalled, 0) + coalesce(starting, 0) + coalesce(restart, 0) + coalesce(failure, 0) + coalesce(preemption, 0)) AS held,
        sum(coalesce(productive, 0)) AS productive, sum(coalesce(unobserved, 0)) AS unobserved
    FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
    WHERE h.cluster_id = %(cluster)s AND h.machine_id <> 0
      AND h.hour >= ledger_at(%(hour)s) - interval '24 hours' AND h.hour <= ledger_at(%(hour)s)
    GROUP BY 1, 2, 3
), subjects AS (
    SELECT
        workspace_id, pool_id,
        coalesce(sum(held) FILTER (WHERE is_hour), 0)::bigint AS held,
        coalesce(sum(productive) FILTER (WHERE is_hour), 0)::bigint AS productive,
        coalesce(sum(unobserved) FILTER (WHERE is_hour), 0)::bigint AS unobserved,
        coalesce(sum(held) FILTER (WHERE NOT is_hour), 0)::bigint AS day_held,
        coalesce(sum(productive) FILTER (WHERE NOT is_hour), 0)::bigint AS day_productive
    FROM cells GROUP BY GROUPING SETS ((workspace_id), (pool_id))
)
SELECT
    s.workspace_id, s.pool_id, coalesce(w.name, p.name),
    s.held, s.productive, s.unobserved, s.day_held, s.day_productive
FROM subjects AS s
LEFT JOIN ledger_workspace AS w ON w.id = s.workspace_id
LEFT JOIN ledger_pool AS p ON p.id = s.pool_id
WHERE s.pool_id IS DISTINCT FROM 0
ORDER BY s.workspace_id, s.pool_id;
