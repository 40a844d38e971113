-- What hours and days of pools, days and weeks of machines were without their workspaces, from what they were with them.
INSERT INTO ledger_daymachine (cluster_id, day, workspace_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, day, 0, machine_id, pool_id, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_daymachine
GROUP BY 1, 2, 4, 5
ORDER BY 1, 2, 4, 5;

INSERT INTO ledger_weekmachine (cluster_id, week, workspace_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, week, 0, machine_id, pool_id, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_weekmachine
GROUP BY 1, 2, 4, 5
ORDER BY 1, 2, 4, 5;

INSERT INTO ledger_hourpool (cluster_id, hour, workspace_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, hour, 0, pool_id, held, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_hourpool
GROUP BY 1, 2, 4, 5
ORDER BY 1, 2, 4, 5;

INSERT INTO ledger_daypool (cluster_id, day, workspace_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, day, 0, pool_id, held, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_daypool
GROUP BY 1, 2, 4, 5
ORDER BY 1, 2, 4, 5;
