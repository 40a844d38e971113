-- Gangs of four machines, one after the other on the same four, each for 2 to 238 hours (49 on average, most of them short).
SELECT setseed(0.25);

CREATE UNLOGGED TABLE bench_tenancy AS
SELECT
    nextval(pg_get_serial_sequence('ledger_run', 'id')) AS run_id, block, number,
    (begins * interval '1 hour') + %(first)s AS since, ((begins + hours) * interval '1 hour') + %(first)s AS until
FROM (
    SELECT *, sum(hours) OVER (PARTITION BY block ORDER BY number) - hours AS begins
    FROM (
        SELECT block, number, 2 + (power(random(), 4) * 236)::integer AS hours
        FROM generate_series(0, %(machines)s / 4 - 1) AS block, generate_series(1, %(hours)s / 30 + 8) AS number
    ) AS drawn
) AS laid
WHERE begins <= %(hours)s;

INSERT INTO ledger_run (id, cluster_id, workspace_id, uid, name, kind, "user", submitted_at, outcome, has_stalls)
SELECT
    t.run_id, %(cluster)s, w.id, 'uid-' || t.block || '-' || t.number, 'train-' || t.block || '-' || t.number %% 7,
    'PyTorchJob', 'user-' || (t.block * 7 + t.number) %% 60, t.since, '', false
FROM bench_tenancy AS t
JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM ledger_workspace) AS w
    ON w.place = (t.block / 3 + t.number %% 3) %% 12;

CREATE UNLOGGED TABLE bench_place AS
SELECT (row_number() OVER (ORDER BY id) - 1) / 4 AS block, id AS machine_id, pool_id
FROM ledger_machine WHERE cluster_id = %(cluster)s;

ANALYZE ledger_run, ledger_machine, ledger_pool, bench_tenancy, bench_place;
