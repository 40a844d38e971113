-- Each open cell's value at the end of its hour becomes a closed row; a line that is 0 becomes null.
INSERT INTO ledger_hour (
    cluster_id, hour, run_id, machine_id, pool_id,
    productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive
)
SELECT
    cluster_id, ledger_at(%(hour)s), run_id, machine_id, pool_id,
    nullif(a_productive + g_productive * 3600000, 0),
    nullif(a_idle + g_idle * 3600000, 0),
    nullif(a_stalled + g_stalled * 3600000, 0),
    nullif(a_starting + g_starting * 3600000, 0),
    nullif(a_restart + g_restart * 3600000, 0),
    nullif(a_failure + g_failure * 3600000, 0),
    nullif(a_preemption + g_preemption * 3600000, 0),
    nullif(a_waiting + g_waiting * 3600000, 0),
    nullif(a_unobserved + g_unobserved * 3600000, 0),
    nullif(a_unobserved_productive + g_unobserved_productive * 3600000, 0)
FROM ledger_opencell
WHERE cluster_id = %(cluster)s AND NOT (a_productive + g_productive * 3600000 = 0 AND a_idle + g_idle * 3600000 = 0 AND a_stalled + g_stalled * 3600000 = 0 AND a_starting + g_starting * 3600000 = 0 AND a_restart + g_restart * 3600000 = 0 AND a_failure + g_failure * 3600000 = 0 AND a_preemption + g_preemption * 3600000 = 0 AND a_waiting + g_waiting * 3600000 = 0)
ORDER BY run_id, machine_id, pool_id;
