-- Whether any cluster of these workspaces expects readings of its GPUs now.
SELECT coalesce(bool_or(coalesce(
    (SELECT u.readings_expected FROM ledger_clusterrule AS u
     WHERE u.cluster_id = k.id AND u.since <= clock_timestamp() ORDER BY u.since DESC LIMIT 1), true
)), true)
FROM ledger_cluster AS k
WHERE k.organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]));
