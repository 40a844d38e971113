-- A run by its uid, else the newest of that name.
SELECT r.id, r.uid, r.cluster_id
FROM ledger_run AS r
WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]) AND (r.uid = %(run)s OR r.name = %(run)s)
ORDER BY r.uid = %(run)s DESC, r.submitted_at DESC NULLS LAST, r.id DESC
LIMIT 1;
