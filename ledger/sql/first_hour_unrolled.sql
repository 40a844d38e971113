-- The first hour in which anything of these workspaces was counted, ms, where the roll-ups alone do not tell it; null: nothing
-- yet. Each day is looked up for itself, for how many are not rolled up is not known when this is planned.
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
), unrolled AS MATERIALIZED (
    SELECT d.cluster_id, d.day FROM clock AS k JOIN ledger_dirtyday AS d ON d.cluster_id = k.id
)
SELECT ledger_ms(coalesce(
    least(
        (SELECT min(h.hour) FROM first AS f JOIN ledger_hourpool AS h
             ON h.cluster_id = f.cluster_id AND h.hour >= f.day AND h.hour < f.day + interval '24 hours'
         WHERE h.workspace_id = ANY (%(workspaces)s::bigint[])),
        (SELECT min(h.hour) FROM unrolled AS d CROSS JOIN LATERAL (
             SELECT h.hour FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
             WHERE h.cluster_id = d.cluster_id AND h.hour >= d.day AND h.hour < d.day + interval '24 hours'
               AND r.workspace_id = ANY (%(workspaces)s::bigint[])
             ORDER BY h.hour LIMIT 1
         ) AS h)
    ),
    (SELECT min(h.hour) FROM clock AS k CROSS JOIN LATERAL (
         SELECT h.hour FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
         WHERE h.cluster_id = k.id AND h.hour >= date_trunc('day', k.open_hour, 'UTC')
           AND r.workspace_id = ANY (%(workspaces)s::bigint[])
         ORDER BY h.hour LIMIT 1
     ) AS h),
    (SELECT min(k.open_hour) FROM clock AS k JOIN ledger_opencell AS c ON c.cluster_id = k.id
     JOIN ledger_run AS r ON r.id = c.run_id
     WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]))
));
