-- Sources whose lists are put aside, for they lack more than half of their workers: id, name, and since when, ms.
SELECT id, name, ledger_ms(held_since) FROM ledger_source
WHERE cluster_id = %(cluster)s AND held_since IS NOT NULL
ORDER BY name;
