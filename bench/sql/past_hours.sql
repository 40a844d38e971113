-- The closed hours of [lower, upper): a cell a machine and hour, where most of the time is productive, and a wait before
-- each run and now and then after a failure.
INSERT INTO ledger_hour (
    cluster_id, hour, run_id, machine_id, pool_id, productive, idle, stalled, starting, restart, failure, preemption,
    waiting, unobserved, unobserved_productive
)
SELECT
    %(cluster)s, hour, run_id, machine_id, pool_id,
    nullif(28800000000 - idle - stalled - starting - restart - failure - preemption, 0),
    nullif(idle, 0), nullif(stalled, 0), nullif(starting, 0), nullif(restart, 0), nullif(failure, 0),
    nullif(preemption, 0), NULL, nullif(stalled / 2 + starting, 0), nullif(starting / 4, 0)
FROM (
    SELECT
        hour, run_id, machine_id, pool_id,
        CASE WHEN seed %% 5 = 0 THEN seed * 8011 %% 6000000000 ELSE 0 END AS idle,
        CASE WHEN seed %% 41 = 0 THEN seed * 7927 %% 9000000000 ELSE 0 END AS stalled,
        CASE WHEN hour = since THEN 1200000000 + seed * 13 ELSE 0 END AS starting,
        CASE WHEN seed %% 97 = 1 THEN 900000000 + seed * 17 ELSE 0 END AS restart,
        CASE WHEN seed %% 97 = 1 THEN 2400000000 + seed * 19 ELSE 0 END AS failure,
        CASE WHEN seed %% 131 = 2 THEN 1800000000 + seed * 23 ELSE 0 END AS preemption
    FROM (
        SELECT t.run_id, t.since, hour, p.machine_id, p.pool_id,
            (hashint8extended(t.run_id, extract(epoch FROM hour)::bigint + p.machine_id) & 1048575) AS seed
        FROM bench_tenancy AS t
        CROSS JOIN LATERAL generate_series(greatest(t.since, %(lower)s), least(t.until, %(upper)s) - interval '1 hour', interval '1 hour') AS hour
        JOIN bench_place AS p ON p.block = t.block
        WHERE t.since < %(upper)s AND t.until > %(lower)s
    ) AS drawn
) AS split
UNION ALL
SELECT
    %(cluster)s, hour, t.run_id, 0, min(p.pool_id), NULL, NULL, NULL, NULL, NULL,
    CASE WHEN hour = t.since THEN NULL ELSE 3000000000 + t.run_id %% 997 END, NULL,
    CASE WHEN hour = t.since THEN 9000000000 + t.run_id %% 991 END, NULL, NULL
FROM bench_tenancy AS t
CROSS JOIN LATERAL generate_series(greatest(t.since, %(lower)s), least(t.until, %(upper)s) - interval '1 hour', interval '1 hour') AS hour
JOIN bench_place AS p ON p.block = t.block
WHERE t.since < %(upper)s AND t.until > %(lower)s
  AND (hour = t.since OR (t.run_id + extract(epoch FROM hour)::bigint / 3600) %% 50 = 0)
GROUP BY hour, t.run_id, t.since
ORDER BY 2, 3, 4, 5;
