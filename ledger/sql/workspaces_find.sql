-- Workspaces of an organization by name.
SELECT name, id FROM ledger_workspace WHERE organization_id = %(organization)s AND name = ANY (%(names)s::text[]);
