-- The machines and pools of a name that these workspaces have held; with `whole` also those that nobody has.
SELECT 'machine' AS kind, m.id, k.name, p.name
FROM ledger_machine AS m
JOIN ledger_cluster AS k ON k.id = m.cluster_id
JOIN ledger_pool AS p ON p.id = m.pool_id
WHERE %(kind)s = 'machine' AND m.name = %(name)s AND (%(cluster)s = 0 OR m.cluster_id = %(cluster)s)
  AND m.cluster_id IN (SELECT c.id FROM ledger_cluster AS c JOIN ledger_workspace AS w ON w.organization_id = c.organization_id
                       WHERE w.id = ANY (%(workspaces)s::bigint[]) UNION ALL SELECT %(cluster)s WHERE %(whole)s)
  AND (%(whole)s
    OR EXISTS (SELECT FROM ledger_opencell AS c JOIN ledger_run AS r ON r.id = c.run_id
               WHERE c.cluster_id = m.cluster_id AND c.machine_id = m.id AND r.workspace_id = ANY (%(workspaces)s::bigint[]))
    OR EXISTS (SELECT FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
               WHERE h.machine_id = m.id AND h.machine_id > 1 AND r.workspace_id = ANY (%(workspaces)s::bigint[])))
UNION ALL
SELECT 'pool', p.id, k.name, p.name
FROM ledger_pool AS p
JOIN ledger_cluster AS k ON k.id = p.cluster_id
WHERE %(kind)s = 'pool' AND p.name = %(name)s AND (%(cluster)s = 0 OR p.cluster_id = %(cluster)s)
  AND p.cluster_id IN (SELECT c.id FROM ledger_cluster AS c JOIN ledger_workspace AS w ON w.organization_id = c.organization_id
                       WHERE w.id = ANY (%(workspaces)s::bigint[]) UNION ALL SELECT %(cluster)s WHERE %(whole)s)
  AND (%(whole)s
    OR EXISTS (SELECT FROM ledger_opencell AS c JOIN ledger_run AS r ON r.id = c.run_id
               WHERE c.cluster_id = p.cluster_id AND c.pool_id = p.id AND r.workspace_id = ANY (%(workspaces)s::bigint[]))
    OR EXISTS (SELECT FROM ledger_daypool AS d
               WHERE d.cluster_id = p.cluster_id AND d.pool_id = p.id AND d.workspace_id = ANY (%(workspaces)s::bigint[]))
    OR EXISTS (SELECT FROM ledger_dirtyday AS d JOIN ledger_hour AS h
                   ON h.cluster_id = d.cluster_id AND h.hour >= d.day AND h.hour < d.day + interval '24 hours'
               JOIN ledger_run AS r ON r.id = h.run_id
               WHERE d.cluster_id = p.cluster_id AND h.pool_id = p.id AND r.workspace_id = ANY (%(workspaces)s::bigint[]))
    OR EXISTS (SELECT FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
               WHERE h.cluster_id = p.cluster_id AND h.hour >= date_trunc('day', k.open_hour, 'UTC')
                 AND h.pool_id = p.id AND r.workspace_id = ANY (%(workspaces)s::bigint[])))
ORDER BY 3, 2;
