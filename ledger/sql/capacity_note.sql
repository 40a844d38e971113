-- The largest and the last capacity reported in an hour; written only when it differs from what holds already.
INSERT INTO ledger_capacity (machine_id, hour, largest_milli, last_milli)
SELECT n.machine_id, ledger_at(%(hour)s), n.gpus_milli, n.gpus_milli
FROM unnest(%(machines)s::bigint[], %(gpus)s::integer[]) AS n (machine_id, gpus_milli)
WHERE n.gpus_milli IS DISTINCT FROM (
    SELECT c.last_milli FROM ledger_capacity AS c
    WHERE c.machine_id = n.machine_id AND c.hour <= ledger_at(%(hour)s)
    ORDER BY c.hour DESC LIMIT 1
)
ORDER BY n.machine_id
ON CONFLICT (machine_id, hour) DO UPDATE SET
    largest_milli = greatest(ledger_capacity.largest_milli, EXCLUDED.largest_milli), last_milli = EXCLUDED.last_milli;
