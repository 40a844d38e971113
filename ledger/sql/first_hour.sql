-- The first hour in which anything of these workspaces was counted, ms; null: nothing yet. By the roll-ups; hour by hour
-- only where a day has yet to be rolled up.
WITH clock AS MATERIALIZED (
    SELECT id, open_hour FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
      AND (%(cluster)s = 0 OR id = %(cluster)s)
), first AS MATERIALIZED (
    SELECT k.id AS cluster_id, (
        SELECT d.day FROM ledger_daypool AS d
        WHERE d.cluster_id = k.id AND d.workspace_id = ANY (%(workspaces)s::bigint[]) ORDER BY d.day LIMIT 1
    ) AS day
    FROM clock AS k
)
SELECT ledger_ms(coalesce(
    least(
        (SELECT min(h.hour) FROM first AS f JOIN ledger_hourpool AS h
             ON h.cluster_id = f.cluster_id AND h.hour >= f.day AND h.hour < f.day + interval '24 hours'
         WHERE h.workspace_id = ANY (%(workspaces)s::bigint[])),
        (SELECT min(h.hour) FROM clock AS k JOIN ledger_dirtyday AS d ON d.cluster_id = k.id
         JOIN ledger_hour AS h ON h.cluster_id = d.cluster_id AND h.hour >= d.day AND h.hour < d.day + interval '24 hours'
         JOIN ledger_run AS r ON r.id = h.run_id
         WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]))
    ),
    (SELECT min(h.hour) FROM clock AS k
     JOIN ledger_hour AS h ON h.cluster_id = k.id AND h.hour >= date_trunc('day', k.open_hour, 'UTC')
     JOIN ledger_run AS r ON r.id = h.run_id
     WHERE r.workspace_id = ANY (%(workspaces)s::bigint[])),
    (SELECT min(k.open_hour) FROM clock AS k JOIN ledger_opencell AS c ON c.cluster_id = k.id
     JOIN ledger_run AS r ON r.id = c.run_id
     WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]))
));
