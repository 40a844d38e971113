-- What was rolled up before eighths were, and what was of runs without their pools: again from the hours.
INSERT INTO ledger_eighthrun (cluster_id, eighth, run_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT h.cluster_id, date_bin('3 hours', h.hour, '2000-01-01 00:00:00+00'), h.run_id, h.pool_id, h.machine_id <> 0, nullif(sum(h.productive), 0), nullif(sum(h.idle), 0), nullif(sum(h.stalled), 0), nullif(sum(h.starting), 0), nullif(sum(h.restart), 0), nullif(sum(h.failure), 0), nullif(sum(h.preemption), 0), nullif(sum(h.waiting), 0), nullif(sum(h.unobserved), 0), nullif(sum(h.unobserved_productive), 0)
FROM ledger_hour AS h JOIN ledger_cluster AS k ON k.id = h.cluster_id
WHERE h.hour < ledger_rolled_to(k.open_hour)
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5;

INSERT INTO ledger_dayrun (cluster_id, day, run_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, date_trunc('day', eighth, 'UTC'), run_id, pool_id, held, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_eighthrun
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5;

INSERT INTO ledger_weekrun (cluster_id, week, run_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, date_trunc('week', day, 'UTC'), run_id, pool_id, held, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_dayrun
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5;

INSERT INTO ledger_eighthmachine (cluster_id, eighth, workspace_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT h.cluster_id, date_bin('3 hours', h.hour, '2000-01-01 00:00:00+00'), r.workspace_id, h.machine_id, h.pool_id, nullif(sum(h.productive), 0), nullif(sum(h.idle), 0), nullif(sum(h.stalled), 0), nullif(sum(h.starting), 0), nullif(sum(h.restart), 0), nullif(sum(h.failure), 0), nullif(sum(h.preemption), 0), nullif(sum(h.waiting), 0), nullif(sum(h.unobserved), 0), nullif(sum(h.unobserved_productive), 0)
FROM ledger_hour AS h JOIN ledger_cluster AS k ON k.id = h.cluster_id JOIN ledger_run AS r ON r.id = h.run_id
WHERE h.hour < ledger_rolled_to(k.open_hour)
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5;
