-- Nothing before an edge is left.
UPDATE ledger_cluster SET pruned_to = greatest(pruned_to, ledger_at(%(edge)s)), pruned_at = greatest(pruned_at, ledger_at(%(now)s))
WHERE id = %(cluster)s;
