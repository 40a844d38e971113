-- The other design: nothing ticks by itself, so each minute adds every worker's amount to its cell of the hour.
CREATE TABLE each_worker (
    id bigint PRIMARY KEY, run_id bigint NOT NULL, machine_id bigint NOT NULL, pool_id bigint NOT NULL,
    category smallint NOT NULL, gpus_milli integer NOT NULL, counted_at bigint NOT NULL
) WITH (fillfactor = 60);
CREATE TABLE each_cell (
    hour bigint, run_id bigint, machine_id bigint, pool_id bigint, category smallint, amount bigint NOT NULL,
    PRIMARY KEY (hour, run_id, machine_id, pool_id, category)
) WITH (fillfactor = 60);
INSERT INTO each_worker
SELECT w.id, w.run_id, s.machine_id, s.pool_id, s.category, s.gpus_milli, %(now)s
FROM ledger_worker AS w JOIN ledger_span AS s ON s.worker_id = w.id AND s.until IS NULL
WHERE w.cluster_id = %(cluster)s
ORDER BY w.id;
ANALYZE each_worker;
