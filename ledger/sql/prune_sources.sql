-- Sources that have said nothing since the edge and that nothing kept names; a folded state names one in its place, which
-- counts from 0.
WITH asked AS MATERIALIZED (
    SELECT s.id FROM ledger_source AS s
    WHERE s.cluster_id = %(cluster)s AND (%(only)s::bigint[] IS NULL OR s.id = ANY (%(only)s::bigint[]))
      AND greatest(s.heard_at, s.word_at, s.list_at) < ledger_at(%(edge)s)
      AND NOT EXISTS (SELECT FROM ledger_word AS w WHERE w.source_id = s.id)
      AND NOT EXISTS (SELECT FROM ledger_listing AS l WHERE l.source_id = s.id)
)
SELECT a.id FROM asked AS a
WHERE NOT EXISTS (SELECT FROM ledger_span AS s WHERE s.source_id = a.id)
  AND NOT EXISTS (SELECT FROM ledger_gone AS g WHERE g.source_id = a.id)
  AND NOT EXISTS (SELECT FROM ledger_state AS s WHERE s.source_id = a.id OR (s.folded->>%(place)s)::bigint = a.id)
ORDER BY a.id LIMIT %(limit)s;
