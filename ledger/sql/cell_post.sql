-- Signed postings to the open cells of runs that the caller has locked: rates g and offsets a.
UPDATE ledger_opencell AS c SET
    g_productive = c.g_productive + d.g_productive, a_productive = c.a_productive + d.a_productive,
    g_idle = c.g_idle + d.g_idle, a_idle = c.a_idle + d.a_idle,
    g_stalled = c.g_stalled + d.g_stalled, a_stalled = c.a_stalled + d.a_stalled,
    g_starting = c.g_starting + d.g_starting, a_starting = c.a_starting + d.a_starting,
    g_restart = c.g_restart + d.g_restart, a_restart = c.a_restart + d.a_restart,
    g_failure = c.g_failure + d.g_failure, a_failure = c.a_failure + d.a_failure,
    g_preemption = c.g_preemption + d.g_preemption, a_preemption = c.a_preemption + d.a_preemption,
    g_waiting = c.g_waiting + d.g_waiting, a_waiting = c.a_waiting + d.a_waiting,
    g_unobserved = c.g_unobserved + d.g_unobserved, a_unobserved = c.a_unobserved + d.a_unobserved,
    g_unobserved_productive = c.g_unobserved_productive + d.g_unobserved_productive, a_unobserved_productive = c.a_unobserved_productive + d.a_unobserved_productive
FROM unnest(
    %(runs)s::bigint[], %(machines)s::bigint[], %(pools)s::bigint[],
    %(g_productive)s::bigint[], %(a_productive)s::bigint[],
    %(g_idle)s::bigint[], %(a_idle)s::bigint[],
    %(g_stalled)s::bigint[], %(a_stalled)s::bigint[],
    %(g_starting)s::bigint[], %(a_starting)s::bigint[],
    %(g_restart)s::bigint[], %(a_restart)s::bigint[],
    %(g_failure)s::bigint[], %(a_failure)s::bigint[],
    %(g_preemption)s::bigint[], %(a_preemption)s::bigint[],
    %(g_waiting)s::bigint[], %(a_waiting)s::bigint[],
    %(g_unobserved)s::bigint[], %(a_unobserved)s::bigint[],
    %(g_unobserved_productive)s::bigint[], %(a_unobserved_productive)s::bigint[]
) AS d (
    run_id, machine_id, pool_id,
    g_productive, a_productive, g_idle, a_idle, g_stalled, a_stalled, g_starting, a_starting, g_restart, a_restart, g_failure, a_failure, g_preemption, a_preemption, g_waiting, a_waiting, g_unobserved, a_unobserved, g_unobserved_productive, a_unobserved_productive
)
WHERE c.cluster_id = %(cluster)s AND c.run_id = d.run_id AND c.machine_id = d.machine_id AND c.pool_id = d.pool_id;
