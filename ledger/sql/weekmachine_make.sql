-- Week × workspace × machine and pool: the sum of those of its days that are rolled up by now.
INSERT INTO ledger_weekmachine (cluster_id, week, workspace_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, date_trunc('week', ledger_at(%(day)s), 'UTC'), workspace_id, machine_id, pool_id, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_daymachine
WHERE cluster_id = %(cluster)s AND day >= date_trunc('week', ledger_at(%(day)s), 'UTC')
  AND day < date_trunc('week', ledger_at(%(day)s), 'UTC') + interval '168 hours'
GROUP BY cluster_id, workspace_id, machine_id, pool_id
ORDER BY workspace_id, machine_id, pool_id;
