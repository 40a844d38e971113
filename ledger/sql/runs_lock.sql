-- Runs of a cluster by uid, locked in the order of their ids. A run's lock is the lock of its whole gang.
SELECT id, uid, workspace_id, has_stalls
FROM ledger_run
WHERE cluster_id = %(cluster)s AND uid = ANY (%(uids)s::text[])
ORDER BY id
FOR NO KEY UPDATE;
