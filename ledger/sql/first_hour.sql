-- The first hour in which anything of these workspaces was counted by the roll-ups, ms; null: they have none, or a day up to
-- it has yet to be rolled up.
-- Prepared for each in_cluster.
WITH clock AS MATERIALIZED (
    SELECT id FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
      AND (NOT %(in_cluster)s OR id = %(cluster)s)
), first AS MATERIALIZED (
    SELECT k.id AS cluster_id, d.day
    FROM clock AS k
    CROSS JOIN LATERAL (
        SELECT d.day FROM ledger_daypool AS d
        WHERE d.cluster_id = k.id AND d.workspace_id = ANY (%(workspaces)s::bigint[]) ORDER BY d.day LIMIT 1
    ) AS d
)
SELECT ledger_ms(min(h.hour))
FROM first AS f
CROSS JOIN LATERAL (
    SELECT h.hour FROM ledger_hourpool AS h
    WHERE h.cluster_id = f.cluster_id AND h.hour >= f.day AND h.hour < f.day + interval '24 hours'
      AND h.workspace_id = ANY (%(workspaces)s::bigint[])
    ORDER BY h.hour LIMIT 1
) AS h
WHERE NOT EXISTS (
    SELECT FROM clock AS k JOIN ledger_dirtyday AS d ON d.cluster_id = k.id WHERE d.day <= (SELECT min(day) FROM first)
);
