-- What the words of a cluster's sources cover after an instant.
SELECT w.source_id, ledger_ms(w.lower), ledger_ms(w.upper)
FROM ledger_word AS w JOIN ledger_source AS s ON s.id = w.source_id
WHERE s.cluster_id = %(cluster)s AND w.upper > ledger_at(%(since)s)
ORDER BY w.source_id, w.lower;
