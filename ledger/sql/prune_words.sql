-- What words covered before the edge.
DELETE FROM ledger_word WHERE ctid = ANY (ARRAY(
    SELECT w.ctid FROM ledger_source AS s JOIN ledger_word AS w ON w.source_id = s.id
    WHERE s.cluster_id = %(cluster)s AND w.upper <= ledger_at(%(edge)s)
    ORDER BY w.source_id, w.lower LIMIT %(limit)s FOR UPDATE OF w SKIP LOCKED
));
