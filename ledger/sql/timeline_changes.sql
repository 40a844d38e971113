-- How the GPUs of groups of workers change within [start, end), by columns of `size` ms: what all changes of a line in a
-- column add up to, milli-GPUs, which holds in the columns after it, and what they make of GPU time in the column itself,
-- milli-GPUs × ms. What still goes on ends at `until`.
WITH grouped AS (
    SELECT * FROM unnest(%(workers)s::bigint[], %(groups)s::integer[]) AS g (worker_id, number)
), alike AS (
    -- a gang changes together: what begins and ends at once is one before it is shared out
    SELECT g.number, s.category, s.machine_id <> 0 AS held, s.since, s.until, sum(s.gpus_milli) AS gpus_milli
    FROM grouped AS g JOIN ledger_span AS s ON s.worker_id = g.worker_id
    WHERE s.since < ledger_at(%(end)s) AND (s.until IS NULL OR s.until > ledger_at(%(start)s))
    GROUP BY 1, 2, 3, 4, 5
), clipped AS MATERIALIZED (
    SELECT
        number, category, held, gpus_milli, greatest(ledger_ms(since), %(start)s) - %(start)s AS since,
        least(coalesce(ledger_ms(until), %(until)s), %(end)s) - %(start)s AS until
    FROM alike
), changes AS (
    SELECT number, category, held, since AS at, gpus_milli FROM clipped WHERE since < until
    UNION ALL
    SELECT number, category, held, until, -gpus_milli FROM clipped WHERE since < until
)
SELECT
    number, category, held, at / %(size)s, ledger_sum(gpus_milli),
    ledger_sum(gpus_milli * (%(size)s - mod(at, %(size)s)))
FROM changes
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4;
