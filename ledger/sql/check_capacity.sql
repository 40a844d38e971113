-- Machines on which more was held in an hour of [lower, upper) than the largest capacity reported of it for that hour.
SELECT ledger_ms(h.hour), m.name, h.held, c.capacity_milli
FROM (
    SELECT hour, machine_id, sum(coalesce(productive, 0) + coalesce(idle, 0) + coalesce(stalled, 0) + coalesce(starting, 0) + coalesce(restart, 0) + coalesce(failure, 0) + coalesce(preemption, 0) + coalesce(waiting, 0)) AS held
    FROM ledger_hour
    WHERE cluster_id = %(cluster)s AND hour >= ledger_at(%(lower)s) AND hour < ledger_at(%(upper)s) AND machine_id > 1
    GROUP BY hour, machine_id
) AS h
JOIN ledger_machine AS m ON m.id = h.machine_id
CROSS JOIN LATERAL (
    SELECT greatest(
        (SELECT largest_milli FROM ledger_capacity WHERE machine_id = h.machine_id AND hour = h.hour),
        (SELECT last_milli FROM ledger_capacity WHERE machine_id = h.machine_id AND hour < h.hour ORDER BY hour DESC LIMIT 1)
    ) AS capacity_milli
) AS c
WHERE h.held > c.capacity_milli::bigint * 3600000
ORDER BY 1, 2;
