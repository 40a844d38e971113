-- The first instant within (lower, upper] at which the words of a source run out or begin again.
SELECT s.id, ledger_ms(min(edge))
FROM ledger_source AS s
JOIN ledger_word AS w ON w.source_id = s.id AND w.upper > ledger_at(%(lower)s)
CROSS JOIN LATERAL (VALUES (w.lower), (w.upper)) AS e (edge)
WHERE s.cluster_id = %(cluster)s AND edge > ledger_at(%(lower)s) AND edge <= ledger_at(%(upper)s)
GROUP BY s.id
ORDER BY s.id;
