-- The running hour: five workers a machine, of which one in a hundred is stalled, their spans and their open cells.
INSERT INTO ledger_worker (cluster_id, run_id, name, phase, proven, watched, doing, recent)
SELECT %(cluster)s, t.run_id, 'worker-' || p.machine_id || '-' || place, 3, false, false, 0, '{}'
FROM bench_tenancy AS t
JOIN bench_place AS p ON p.block = t.block
CROSS JOIN generate_series(0, 4) AS place
WHERE t.since <= %(hour)s AND t.until > %(hour)s;

INSERT INTO ledger_span (cluster_id, worker_id, since, until, category, unobserved, gpus_milli, machine_id, pool_id, attempt, source_id)
SELECT %(cluster)s, w.id, t.since, NULL, CASE WHEN w.id %% 100 = 0 THEN 2 ELSE 0 END, false, 1600, p.machine_id, p.pool_id, 1, %(source)s
FROM ledger_worker AS w
JOIN bench_tenancy AS t ON t.run_id = w.run_id
JOIN bench_place AS p ON p.block = t.block AND w.name LIKE 'worker-' || p.machine_id || '-%%';

INSERT INTO ledger_opencell (cluster_id, workspace_id, run_id, machine_id, pool_id, g_productive, g_stalled)
SELECT
    s.cluster_id, r.workspace_id, w.run_id, s.machine_id, s.pool_id,
    coalesce(sum(s.gpus_milli) FILTER (WHERE s.category = 0), 0), coalesce(sum(s.gpus_milli) FILTER (WHERE s.category = 2), 0)
FROM ledger_span AS s
JOIN ledger_worker AS w ON w.id = s.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
WHERE s.until IS NULL AND s.cluster_id = %(cluster)s
GROUP BY 1, 2, 3, 4, 5;
