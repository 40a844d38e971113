-- What a run of 1,000 workers of eight GPUs has had in three days, each its troubles: spans, open cells and closed hours that
-- hold together well enough to be drawn; nobody checks this ledger.
WITH gang AS (
    SELECT w.id, (row_number() OVER (ORDER BY w.id) - 1)::integer AS i FROM ledger_worker AS w
    JOIN ledger_run AS r ON r.id = w.run_id WHERE r.uid = 'uid-gang'
), place AS (
    SELECT id AS machine_id, pool_id, (row_number() OVER (ORDER BY id) - 1)::integer AS i, count(*) OVER () AS many
    FROM ledger_machine WHERE cluster_id = %(cluster)s
)
INSERT INTO ledger_span (cluster_id, worker_id, since, until, category, unobserved, gpus_milli, machine_id, pool_id, attempt, source_id)
SELECT
    %(cluster)s, g.id,
    %(hour)s::timestamptz - interval '72 hours' + step * interval '4 hours' + (g.i / 250) * interval '3 minutes',
    CASE WHEN step < 17 THEN %(hour)s::timestamptz - interval '72 hours' + (step + 1) * interval '4 hours' + (g.i / 250) * interval '3 minutes' END,
    CASE WHEN step = 0 THEN 7 WHEN step = 1 THEN 3 WHEN step %% 5 = 2 THEN 1 WHEN step = 8 THEN 5 WHEN step = 9 THEN 4 WHEN step = 13 THEN 2 ELSE 0 END,
    step %% 7 = 6, 8000, CASE WHEN step = 0 THEN 0 ELSE p.machine_id END, p.pool_id, CASE WHEN step < 9 THEN 1 ELSE 2 END, %(source)s
FROM gang AS g
JOIN place AS p ON p.i = g.i %% p.many
CROSS JOIN generate_series(0, 17) AS step;

INSERT INTO ledger_opencell (cluster_id, workspace_id, run_id, machine_id, pool_id, g_productive)
SELECT s.cluster_id, r.workspace_id, w.run_id, s.machine_id, s.pool_id, sum(s.gpus_milli)
FROM ledger_span AS s JOIN ledger_worker AS w ON w.id = s.worker_id JOIN ledger_run AS r ON r.id = w.run_id
WHERE r.uid = 'uid-gang' AND s.until IS NULL
GROUP BY 1, 2, 3, 4, 5;

INSERT INTO ledger_hour (cluster_id, hour, run_id, machine_id, pool_id, productive, idle)
SELECT s.cluster_id, hour, w.run_id, s.machine_id, s.pool_id, sum(s.gpus_milli) * 3000000, sum(s.gpus_milli) * 600000
FROM ledger_span AS s JOIN ledger_worker AS w ON w.id = s.worker_id JOIN ledger_run AS r ON r.id = w.run_id
CROSS JOIN generate_series(%(hour)s::timestamptz - interval '70 hours', %(hour)s::timestamptz - interval '1 hour', interval '1 hour') AS hour
WHERE r.uid = 'uid-gang' AND s.until IS NULL
GROUP BY 1, 2, 3, 4, 5;

INSERT INTO ledger_capacity (machine_id, hour, largest_milli, last_milli)
SELECT id, %(hour)s::timestamptz - interval '60 days', 8000, 8000 FROM ledger_machine WHERE cluster_id = %(cluster)s
ON CONFLICT DO NOTHING;

ANALYZE ledger_run, ledger_worker, ledger_span, ledger_opencell, ledger_capacity;
