-- Workspaces of an organization that were named for the first time.
INSERT INTO ledger_workspace (organization_id, name)
SELECT %(organization)s, name FROM unnest(%(names)s::text[]) AS name ORDER BY name
ON CONFLICT DO NOTHING;
