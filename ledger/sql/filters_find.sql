-- The workspaces, runs, machines, pools and clusters of these names ('': none is asked for), as arrays; a run also by its uid.
SELECT
    ARRAY(SELECT id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]) AND name = %(workspace)s),
    ARRAY(
        SELECT id FROM ledger_run
        WHERE workspace_id = ANY (%(workspaces)s::bigint[]) AND %(run)s <> '' AND (name = %(run)s OR uid = %(run)s)
          AND (%(uid)s = '' OR uid = %(uid)s)
        UNION
        SELECT id FROM ledger_run
        WHERE workspace_id = ANY (%(workspaces)s::bigint[]) AND %(run)s = '' AND %(uid)s <> '' AND uid = %(uid)s
    ),
    ARRAY(SELECT id FROM ledger_machine WHERE name = %(machine)s),
    ARRAY(SELECT id FROM ledger_pool WHERE name = %(pool)s),
    ARRAY(
        SELECT id FROM ledger_cluster
        WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[])) AND name = %(cluster)s
    );
