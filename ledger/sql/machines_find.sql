-- Machines of a cluster by name.
SELECT name, id FROM ledger_machine WHERE cluster_id = %(cluster)s AND name = ANY (%(names)s::text[]);
