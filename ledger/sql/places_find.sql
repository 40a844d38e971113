-- The machines or pools of a name in the clusters of these workspaces, and whether these are known to have held them, by open
-- cells and roll-ups; with `whole` that is not asked of a cluster's.
-- Prepared for each kind, whole, in_cluster.
SELECT * FROM (
    -- only kind: machine
    SELECT
        'machine', m.id, k.name, p.name,
        %(whole)s
        OR EXISTS (SELECT FROM ledger_opencell AS c
                   WHERE c.cluster_id = m.cluster_id AND c.machine_id = m.id AND c.workspace_id = ANY (%(workspaces)s::bigint[]))
        OR EXISTS (SELECT FROM ledger_weekmachine AS d
                   WHERE d.cluster_id = m.cluster_id AND d.machine_id = m.id AND d.workspace_id = ANY (%(workspaces)s::bigint[]))
    FROM ledger_machine AS m
    JOIN ledger_cluster AS k ON k.id = m.cluster_id
    JOIN ledger_pool AS p ON p.id = m.pool_id
    WHERE %(kind)s = 'machine' AND m.name = %(name)s AND (NOT %(in_cluster)s OR m.cluster_id = %(cluster)s)
      AND (m.cluster_id IN (
          SELECT c.id FROM ledger_cluster AS c JOIN ledger_workspace AS w ON w.organization_id = c.organization_id
          WHERE w.id = ANY (%(workspaces)s::bigint[]) UNION ALL SELECT %(cluster)s WHERE %(whole)s
      ))
    -- end only
    -- only kind: pool
    UNION ALL
    SELECT
        'pool', p.id, k.name, p.name,
        %(whole)s
        OR EXISTS (SELECT FROM ledger_opencell AS c
                   WHERE c.cluster_id = p.cluster_id AND c.pool_id = p.id AND c.workspace_id = ANY (%(workspaces)s::bigint[]))
        OR EXISTS (SELECT FROM ledger_daypool AS d
                   WHERE d.cluster_id = p.cluster_id AND d.pool_id = p.id AND d.workspace_id = ANY (%(workspaces)s::bigint[]))
    FROM ledger_pool AS p
    JOIN ledger_cluster AS k ON k.id = p.cluster_id
    WHERE %(kind)s = 'pool' AND p.name = %(name)s AND (NOT %(in_cluster)s OR p.cluster_id = %(cluster)s)
      AND (p.cluster_id IN (
          SELECT c.id FROM ledger_cluster AS c JOIN ledger_workspace AS w ON w.organization_id = c.organization_id
          WHERE w.id = ANY (%(workspaces)s::bigint[]) UNION ALL SELECT %(cluster)s WHERE %(whole)s
      ))
    -- end only
) AS found (kind, id, cluster, pool, held)
ORDER BY cluster, id;
