-- Three hours × run and pool, what was held apart from what was not, of what of the day is rolled up.
INSERT INTO ledger_eighthrun (cluster_id, eighth, run_id, pool_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT %(cluster)s, date_bin('3 hours', h.hour, ledger_at(%(day)s)), h.run_id, h.pool_id, h.machine_id <> 0, nullif(sum(h.productive), 0), nullif(sum(h.idle), 0), nullif(sum(h.stalled), 0), nullif(sum(h.starting), 0), nullif(sum(h.restart), 0), nullif(sum(h.failure), 0), nullif(sum(h.preemption), 0), nullif(sum(h.waiting), 0), nullif(sum(h.unobserved), 0), nullif(sum(h.unobserved_productive), 0)
FROM ledger_hour AS h
WHERE h.cluster_id = %(cluster)s AND h.hour >= ledger_at(%(day)s) AND h.hour < ledger_at(%(end)s)
GROUP BY 2, 3, 4, 5
ORDER BY 2, 3, 4, 5;
