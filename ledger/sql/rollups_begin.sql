-- What was rolled up before weeks and the running day's hours were: the weeks from their days, and today is to be made.
INSERT INTO ledger_weekmachine (cluster_id, week, workspace_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT cluster_id, date_trunc('week', day, 'UTC'), workspace_id, machine_id, pool_id, sum(productive), sum(idle), sum(stalled), sum(starting), sum(restart), sum(failure), sum(preemption), sum(waiting), sum(unobserved), sum(unobserved_productive)
FROM ledger_daymachine
GROUP BY 1, 2, 3, 4, 5;

INSERT INTO ledger_dirtyhour (cluster_id, hour)
SELECT k.id, hour
FROM ledger_cluster AS k, generate_series(
    date_trunc('day', k.open_hour, 'UTC'), k.open_hour - interval '1 hour', interval '1 hour'
) AS hour;
