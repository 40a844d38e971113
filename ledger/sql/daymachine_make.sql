-- Day × workspace × machine and pool, and without the workspace, as that of workspace 0: the sum of its eighths.
INSERT INTO ledger_daymachine (cluster_id, day, workspace_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT %(cluster)s, ledger_at(%(day)s), coalesce(p.workspace_id, 0), p.machine_id, p.pool_id, sum(p.productive), sum(p.idle), sum(p.stalled), sum(p.starting), sum(p.restart), sum(p.failure), sum(p.preemption), sum(p.waiting), sum(p.unobserved), sum(p.unobserved_productive)
FROM ledger_eighthmachine AS p
WHERE p.cluster_id = %(cluster)s AND p.eighth >= ledger_at(%(day)s) AND p.eighth < ledger_at(%(end)s)
GROUP BY GROUPING SETS ((p.workspace_id, p.machine_id, p.pool_id), (p.machine_id, p.pool_id))
ORDER BY 3, 4, 5;
