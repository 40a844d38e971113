-- Workspaces of an organization by name; with make, those that are not there yet are made.
WITH made AS (
    INSERT INTO ledger_workspace (organization_id, name)
    SELECT %(organization)s, name FROM unnest(%(names)s::text[]) AS name WHERE %(make)s ORDER BY name
    ON CONFLICT DO NOTHING
    RETURNING id, name
)
SELECT id, name FROM made
UNION
SELECT id, name FROM ledger_workspace WHERE organization_id = %(organization)s AND name = ANY (%(names)s::text[]);
