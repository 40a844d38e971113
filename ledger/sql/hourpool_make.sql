-- Hour × workspace × pool of [start, end), what was held apart from what was not; without the workspace as that of workspace 0.
INSERT INTO ledger_hourpool (cluster_id, hour, workspace_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT %(cluster)s, h.hour, coalesce(r.workspace_id, 0), h.pool_id, h.machine_id <> 0, nullif(sum(h.productive), 0), nullif(sum(h.idle), 0), nullif(sum(h.stalled), 0), nullif(sum(h.starting), 0), nullif(sum(h.restart), 0), nullif(sum(h.failure), 0), nullif(sum(h.preemption), 0), nullif(sum(h.waiting), 0), nullif(sum(h.unobserved), 0), nullif(sum(h.unobserved_productive), 0)
FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
WHERE h.cluster_id = %(cluster)s AND h.hour >= ledger_at(%(start)s) AND h.hour < ledger_at(%(end)s)
GROUP BY GROUPING SETS ((h.hour, r.workspace_id, h.pool_id, h.machine_id <> 0), (h.hour, h.pool_id, h.machine_id <> 0))
ORDER BY 2, 3, 4, 5;
