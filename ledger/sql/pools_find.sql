-- Pools of a cluster by name.
SELECT name, id FROM ledger_pool WHERE cluster_id = %(cluster)s AND name = ANY (%(names)s::text[]);
