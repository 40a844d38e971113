-- Closed cells of the hours [lower, upper) that differ from what the spans say; the first of each pair is the cell's.
WITH told AS (
    SELECT
        hour, w.run_id, s.machine_id, s.pool_id,
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
    FROM ledger_span AS s
    JOIN ledger_worker AS w ON w.id = s.worker_id
    CROSS JOIN LATERAL generate_series(
        greatest(date_trunc('hour', s.since, 'UTC'), ledger_at(%(lower)s)),
        least(coalesce(s.until - interval '1 millisecond', 'infinity'), ledger_at(%(upper)s) - interval '1 hour'),
        interval '1 hour'
    ) AS hour
    WHERE s.cluster_id = %(cluster)s AND s.since < ledger_at(%(upper)s)
      AND (s.until IS NULL OR s.until > ledger_at(%(lower)s))
    GROUP BY hour, w.run_id, s.machine_id, s.pool_id
), kept AS (
    SELECT * FROM ledger_hour
    WHERE cluster_id = %(cluster)s AND hour >= ledger_at(%(lower)s) AND hour < ledger_at(%(upper)s)
)
SELECT
    ledger_ms(coalesce(k.hour, t.hour)), coalesce(k.run_id, t.run_id), coalesce(k.machine_id, t.machine_id),
    coalesce(k.pool_id, t.pool_id),
    k.productive, t.productive, k.idle, t.idle, k.stalled, t.stalled, k.starting, t.starting, k.restart, t.restart, k.failure, t.failure, k.preemption, t.preemption, k.waiting, t.waiting, k.unobserved, t.unobserved, k.unobserved_productive, t.unobserved_productive
FROM kept AS k
FULL JOIN told AS t USING (hour, run_id, machine_id, pool_id)
WHERE (k.productive, k.idle, k.stalled, k.starting, k.restart, k.failure, k.preemption, k.waiting, k.unobserved, k.unobserved_productive) IS DISTINCT FROM (t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting, t.unobserved, t.unobserved_productive)
ORDER BY 1, 2, 3, 4;
