-- Runs that were named for the first time.
INSERT INTO ledger_run (cluster_id, workspace_id, uid, name, kind, "user", outcome, has_stalls)
SELECT %(cluster)s, workspace_id, uid, uid, '', '', '', false
FROM unnest(%(uids)s::text[], %(workspaces)s::bigint[]) AS n (uid, workspace_id)
ORDER BY uid
ON CONFLICT DO NOTHING;
