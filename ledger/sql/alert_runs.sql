-- Runs that are over and yet to be judged by the least goodput they were to have, with what they held.
SELECT
    r.id, r.workspace_id, r.name, r.min_goodput_milli, ledger_ms(r.ended_at),
    coalesce(sum(coalesce(productive, 0) + coalesce(idle, 0) + coalesce(stalled, 0) + coalesce(starting, 0) + coalesce(restart, 0) + coalesce(failure, 0) + coalesce(preemption, 0)) FILTER (WHERE h.machine_id <> 0), 0)::bigint,
    coalesce(sum(h.productive), 0)::bigint
FROM (
    SELECT * FROM ledger_run
    WHERE cluster_id = %(cluster)s AND min_goodput_milli IS NOT NULL AND verdict = '' AND ended_at < ledger_at(%(final_to)s)
    ORDER BY ended_at, id LIMIT %(limit)s
) AS r
LEFT JOIN ledger_hour AS h ON h.run_id = r.id
GROUP BY r.id, r.workspace_id, r.name, r.min_goodput_milli, r.ended_at
ORDER BY r.ended_at, r.id;
