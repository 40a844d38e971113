-- A fleet as it is counted at minute 5 of an hour: every worker has run since the hour began, its GPUs are busy, and
-- it has told a step each minute; slice 51 takes half as long again for it. Slice n (of 100, by id) had its last reading
-- at minute n, those after the fifth at minute 5: so in each later minute one slice's coverage runs out.
WITH made AS (
    INSERT INTO ledger_worker (
        cluster_id, run_id, name, phase, stay_since, watched, busy_at, busy, step_at, step, step_ms, recent, doing,
        progress_at, proven, covered_from, covered_to, told_from, told_to
    )
    SELECT
        %(cluster)s, r.id, 'worker-' || i %% 8, 3, %(hour)s, true, l.at, true, l.at, 100, 9000,
        array_fill(CASE WHEN i %% 100 = 50 THEN 14000 ELSE 9000 + i * 7919 %% 400 END, ARRAY[5]), 0,
        l.at, false, %(hour)s, l.at + interval '5 minutes', %(hour)s, l.at
    FROM generate_series(0, %(workers)s - 1) AS i
    JOIN ledger_run AS r ON r.cluster_id = %(cluster)s AND r.uid = 'run-' || i / 8
    CROSS JOIN LATERAL (
        SELECT %(hour)s::timestamptz + interval '1 minute' * least(i %% 100 + 1, 5) AS at
    ) AS l
    ORDER BY i
    RETURNING id, run_id, name
)
SELECT count(*) FROM made;

ANALYZE ledger_worker;

CREATE TEMPORARY TABLE seat AS
SELECT
    w.id AS worker, w.run_id AS run, m.id AS machine, m.name AS machine_name, m.pool_id AS pool, p.name AS pool_name
FROM ledger_worker AS w
JOIN ledger_run AS r ON r.id = w.run_id
JOIN ledger_machine AS m
    ON m.cluster_id = %(cluster)s
    AND m.name = 'node-' || split_part(r.uid, '-', 2)::integer * 8 + split_part(w.name, '-', 2)::integer
JOIN ledger_pool AS p ON p.id = m.pool_id
WHERE w.cluster_id = %(cluster)s;

INSERT INTO ledger_state (
    cluster_id, worker_id, at, attempt, phase, content, reason, gpus_milli, machine_id, pool_id, source_id, folded
)
SELECT
    %(cluster)s, worker, %(hour)s, 1, 3,
    E'\t0008000\t=' || machine_name || E'\t=' || pool_name || E'\t\t' || %(source_name)s,
    '', 8000, machine, pool, %(source)s,
    jsonb_build_array(
        ledger_ms(%(hour)s), 3, '', 1, 8000, machine, pool, false, true, '', %(source)s, ledger_ms(%(hour)s)
    )
FROM seat;

INSERT INTO ledger_flip (worker_id, at, busy) SELECT worker, %(hour)s, true FROM seat;

INSERT INTO ledger_span (
    cluster_id, worker_id, since, category, unobserved, gpus_milli, machine_id, pool_id, attempt, source_id
)
SELECT %(cluster)s, worker, %(hour)s, 0, false, 8000, machine, pool, 1, %(source)s FROM seat;

INSERT INTO ledger_opencell (cluster_id, workspace_id, run_id, machine_id, pool_id, g_productive)
SELECT %(cluster)s, r.workspace_id, run, machine, pool, 8000 FROM seat JOIN ledger_run AS r ON r.id = run;

DROP TABLE seat;
ANALYZE ledger_state, ledger_flip, ledger_span, ledger_opencell;
