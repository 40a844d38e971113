-- Since when a worker has been in a category without a break, where its present span began at `since`: spans also end where
-- the machine, the GPUs or the source change, or where what is observed does.
CREATE FUNCTION ledger_in_since(worker bigint, category smallint, since timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE back (since) AS (
        SELECT ledger_in_since.since
        UNION ALL
        SELECT s.since
        FROM back AS b
        CROSS JOIN LATERAL (
            SELECT p.since, p.until, p.category FROM ledger_span AS p
            WHERE p.worker_id = ledger_in_since.worker AND p.since < b.since ORDER BY p.since DESC LIMIT 1
        ) AS s
        WHERE s.until = b.since AND s.category = ledger_in_since.category
    )
    SELECT min(b.since) FROM back AS b;
END;
