-- The capacity of a cluster's machines over [start, end), milli-GPUs × ms, by ISO week: all of it, and what of it was not
-- ready. In an hour a machine has the largest capacity told of it for that hour; nothing before the first time it was told.
WITH clock AS MATERIALIZED (
    SELECT least(greatest(clock_timestamp(), ledger_counted(id)), open_hour + interval '1 hour') AS until
    FROM ledger_cluster WHERE id = %(cluster)s
), machines AS (
    SELECT m.id FROM ledger_machine AS m JOIN ledger_pool AS p ON p.id = m.pool_id
    WHERE m.cluster_id = %(cluster)s
      AND (%(machine)s = '' OR m.name = %(machine)s) AND (%(pool)s = '' OR p.name = %(pool)s)
), told AS (
    SELECT
        c.machine_id, c.hour, greatest(c.largest_milli, lag(c.last_milli) OVER w) AS in_hour, c.last_milli,
        coalesce(lead(c.hour) OVER w, 'infinity') AS next
    FROM ledger_capacity AS c JOIN machines AS m ON m.id = c.machine_id
    WINDOW w AS (PARTITION BY c.machine_id ORDER BY c.hour)
), sizes AS (
    SELECT machine_id, hour AS since, hour + interval '1 hour' AS until, in_hour AS milli FROM told
    UNION ALL
    SELECT machine_id, hour + interval '1 hour', next, last_milli FROM told WHERE next > hour + interval '1 hour'
), alike AS (
    -- machines that have their size from one hour to another are one
    SELECT since, until, sum(milli) AS milli FROM sizes GROUP BY since, until
), unready AS (
    SELECT machine_id, at AS since, next AS until
    FROM (
        SELECT r.machine_id, r.at, r.ready, coalesce(lead(r.at) OVER (PARTITION BY r.machine_id ORDER BY r.at), 'infinity') AS next
        FROM ledger_readiness AS r JOIN machines AS m ON m.id = r.machine_id
    ) AS r
    WHERE NOT ready
), weeks AS (
    SELECT week, greatest(week, ledger_at(%(start)s)) AS since, least(week + interval '168 hours', ledger_at(%(end)s), k.until) AS until
    FROM clock AS k, generate_series(
        date_trunc('week', ledger_at(%(start)s), 'UTC'), ledger_at(%(end)s) - interval '1 microsecond', interval '168 hours'
    ) AS week
)
SELECT
    ledger_ms(w.week),
    coalesce(sum(s.milli * (ledger_ms(least(s.until, w.until)) - ledger_ms(greatest(s.since, w.since)))), 0)::bigint,
    coalesce((
        SELECT sum(z.milli * (ledger_ms(least(z.until, u.until, w.until)) - ledger_ms(greatest(z.since, u.since, w.since))))
        FROM unready AS u JOIN sizes AS z ON z.machine_id = u.machine_id AND z.since < u.until AND z.until > u.since
        WHERE greatest(z.since, u.since, w.since) < least(z.until, u.until, w.until)
    ), 0)::bigint
FROM weeks AS w
LEFT JOIN alike AS s ON s.since < w.until AND s.until > w.since
GROUP BY w.week, w.since, w.until
ORDER BY w.week;
