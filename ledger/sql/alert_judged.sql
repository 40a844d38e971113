-- Up to where final hours have been judged; never back.
UPDATE ledger_cluster SET judged_to = greatest(judged_to, ledger_at(%(judged_to)s)) WHERE id = %(cluster)s;
