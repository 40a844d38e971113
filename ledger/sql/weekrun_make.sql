-- Week × run and pool, what was held apart from what was not: the sum of those of its days that are rolled up by now.
INSERT INTO ledger_weekrun (cluster_id, week, run_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, date_trunc('week', ledger_at(%(day)s), 'UTC'), run_id, pool_id, held, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_dayrun
WHERE cluster_id = %(cluster)s AND day >= date_trunc('week', ledger_at(%(day)s), 'UTC')
  AND day < date_trunc('week', ledger_at(%(day)s), 'UTC') + interval '168 hours'
GROUP BY cluster_id, run_id, pool_id, held
ORDER BY run_id, pool_id, held;
