-- Sources with live workers of whom nothing was heard since an instant: id, name, and the last word, ms.
SELECT s.id, s.name, ledger_ms(s.word_at)
FROM ledger_source AS s
WHERE s.cluster_id = %(cluster)s AND s.word_at < ledger_at(%(since)s)
  AND EXISTS (SELECT FROM ledger_span AS p WHERE p.source_id = s.id AND p.until IS NULL)
ORDER BY s.name;
