-- Of the last ten runs on each of these machines, within the workspaces that may be seen: in how many was it a straggler's.
SELECT m.name, count(*), count(*) FILTER (WHERE EXISTS (
    SELECT FROM ledger_straggle AS t JOIN ledger_worker AS w ON w.id = t.worker_id
    WHERE t.machine_id = m.id AND t.confirmed AND w.run_id = u.run_id
))
FROM ledger_machine AS m
CROSS JOIN LATERAL (
    SELECT h.run_id, max(h.hour) AS hour
    FROM (
        SELECT run_id, hour FROM ledger_hour WHERE machine_id = m.id AND machine_id > 1
        UNION ALL
        SELECT c.run_id, 'infinity' FROM ledger_opencell AS c WHERE c.cluster_id = m.cluster_id AND c.machine_id = m.id
    ) AS h
    JOIN ledger_run AS r ON r.id = h.run_id AND r.workspace_id = ANY (%(workspaces)s::bigint[])
    GROUP BY h.run_id
    ORDER BY max(h.hour) DESC
    LIMIT 10
) AS u
WHERE m.name = ANY (%(machines)s::text[]) AND m.id > 1
GROUP BY m.name;
