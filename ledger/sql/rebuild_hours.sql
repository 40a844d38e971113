-- Closed cells of runs, from the spans.
INSERT INTO ledger_hour (cluster_id, hour, run_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT
        %(cluster)s, hour, w.run_id, s.machine_id, s.pool_id,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 0), 0) AS productive,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 1), 0) AS idle,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 2), 0) AS stalled,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 3), 0) AS starting,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 4), 0) AS restart,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 5), 0) AS failure,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 6), 0) AS preemption,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.category = 7), 0) AS waiting,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.unobserved), 0) AS unobserved,
        nullif(sum((s.gpus_milli * (ledger_ms(least(coalesce(s.until, 'infinity'), hour + interval '1 hour')) - ledger_ms(greatest(s.since, hour))))) FILTER (WHERE s.unobserved AND s.category = 0), 0) AS unobserved_productive
FROM ledger_worker AS w
JOIN ledger_span AS s ON s.worker_id = w.id
JOIN ledger_cluster AS k ON k.id = w.cluster_id
CROSS JOIN LATERAL generate_series(
    greatest(date_trunc('hour', s.since, 'UTC'), k.kept_from),
    least(coalesce(s.until - interval '1 millisecond', 'infinity'), k.open_hour - interval '1 hour'),
    interval '1 hour'
) AS hour
WHERE w.run_id = ANY (%(runs)s::bigint[]) AND k.id = %(cluster)s
GROUP BY hour, w.run_id, s.machine_id, s.pool_id
ORDER BY hour, w.run_id, s.machine_id, s.pool_id;
