-- What was rolled up before weeks of runs were: their weeks from their days.
INSERT INTO ledger_weekrun (cluster_id, week, run_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, date_trunc('week', day, 'UTC'), run_id, held, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_dayrun
GROUP BY 1, 2, 3, 4;
