-- What the models cannot say: instants as milliseconds, partitions of the closed hours, storage of hot rows.

-- Both must be inlined, which takes expressions that are immutable: the epoch of an instant is not, that of an interval is.
CREATE FUNCTION ledger_at(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN to_timestamp(ms::double precision / 1000);

CREATE FUNCTION ledger_ms(at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (date_part('epoch', at - timestamptz 'epoch') * 1000)::bigint;

ALTER TABLE ledger_hour RENAME TO ledger_hour_model;
CREATE TABLE ledger_hour (LIKE ledger_hour_model INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (hour);
DROP TABLE ledger_hour_model;
ALTER TABLE ledger_hour ADD PRIMARY KEY (cluster_id, hour, run_id, machine_id, pool_id);
CREATE INDEX ledger_hour_run ON ledger_hour (run_id, hour);
CREATE INDEX ledger_hour_brin ON ledger_hour USING brin (hour);

-- Makes the monthly partitions that [lower, upper] touches, one session at a time (the advisory lock 0x60DC); those that
-- are there cost a look-up each, no lock.
CREATE FUNCTION ledger_make_partitions(lower timestamptz, upper timestamptz) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    month timestamp := date_trunc('month', lower AT TIME ZONE 'UTC');
    part text;
    made integer := 0;
BEGIN
    WHILE month <= upper AT TIME ZONE 'UTC' LOOP
        part := 'ledger_hour_' || to_char(month, 'YYYY_MM');
        IF to_regclass(part) IS NULL THEN
            PERFORM pg_advisory_xact_lock(24796, 0);
            EXECUTE format(
                'CREATE TABLE IF NOT EXISTS %I PARTITION OF ledger_hour FOR VALUES FROM (%L) TO (%L)',
                part, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC'
            );
            made := made + 1;
        END IF;
        month := month + interval '1 month';
    END LOOP;
    RETURN made;
END $$;

SELECT ledger_make_partitions(now() - interval '402 days', now() + interval '62 days');

-- A range of one worker stands for "=", which a gist index has only with an extension.
ALTER TABLE ledger_span ADD CONSTRAINT span_never_overlaps
    EXCLUDE USING gist (int8range(worker_id, worker_id, '[]') WITH &&, tstzrange(since, until) WITH &&);

-- The minute looks at workers that time alone can change, however many there have been. No column of it moves with a
-- reading, so readings still update a row in its page.
CREATE INDEX worker_looked_at ON ledger_worker (cluster_id) WHERE due IS NOT NULL OR watched;

ALTER TABLE ledger_worker SET (fillfactor = 60);
ALTER TABLE ledger_opencell SET (fillfactor = 60);
ALTER TABLE ledger_source SET (fillfactor = 60);
