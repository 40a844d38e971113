-- Day × run and pool, what was held apart from what was not: the sum of its eighths.
INSERT INTO ledger_dayrun (cluster_id, day, run_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT %(cluster)s, ledger_at(%(day)s), p.run_id, p.pool_id, p.held, sum(p.productive), sum(p.idle), sum(p.stalled), sum(p.starting), sum(p.restart), sum(p.failure), sum(p.preemption), sum(p.waiting), sum(p.unobserved), sum(p.unobserved_productive)
FROM ledger_eighthrun AS p
WHERE p.cluster_id = %(cluster)s AND p.eighth >= ledger_at(%(day)s) AND p.eighth < ledger_at(%(end)s)
GROUP BY p.run_id, p.pool_id, p.held
ORDER BY p.run_id, p.pool_id, p.held;
