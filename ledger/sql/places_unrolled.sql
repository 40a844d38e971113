-- Those of these machines or pools that these workspaces have held in hours that no roll-up has yet.
SELECT * FROM (
    -- only kind: machine
    SELECT m.id
    FROM ledger_machine AS m
    WHERE %(kind)s = 'machine' AND m.id = ANY (%(ids)s::bigint[]) AND EXISTS (
        SELECT FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
        WHERE h.machine_id = m.id AND h.machine_id > 1 AND r.workspace_id = ANY (%(workspaces)s::bigint[])
    )
    -- end only
    -- only kind: pool
    UNION ALL
    SELECT p.id
    FROM ledger_pool AS p
    JOIN ledger_cluster AS k ON k.id = p.cluster_id
    WHERE %(kind)s = 'pool' AND p.id = ANY (%(ids)s::bigint[]) AND (
        EXISTS (SELECT FROM ledger_dirtyday AS d CROSS JOIN LATERAL (
                    SELECT FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
                    WHERE h.cluster_id = d.cluster_id AND h.hour >= d.day AND h.hour < d.day + interval '24 hours'
                      AND h.pool_id = p.id AND r.workspace_id = ANY (%(workspaces)s::bigint[])
                    ORDER BY h.hour LIMIT 1
                ) AS h WHERE d.cluster_id = p.cluster_id)
        OR EXISTS (SELECT FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
                   WHERE h.cluster_id = p.cluster_id AND h.hour >= date_trunc('day', k.open_hour, 'UTC')
                     AND h.pool_id = p.id AND r.workspace_id = ANY (%(workspaces)s::bigint[]))
    )
    -- end only
) AS held (id);
