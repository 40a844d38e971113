-- The first hour in which anything of these workspaces was counted, ms; null: nothing yet.
SELECT ledger_ms(least(
    (SELECT min(h.hour) FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
     WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]) AND (%(cluster)s = 0 OR r.cluster_id = %(cluster)s)),
    (SELECT min(k.open_hour) FROM ledger_opencell AS c JOIN ledger_run AS r ON r.id = c.run_id
     JOIN ledger_cluster AS k ON k.id = c.cluster_id WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]) AND (%(cluster)s = 0 OR r.cluster_id = %(cluster)s))
));
