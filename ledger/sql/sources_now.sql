-- The sources of clusters (all of them when `clusters` is null): when each last had a word, how many workers live whose
-- latest phase it told, since when it is stale (live workers, and its words ran out), and since when a list is held back.
SELECT
    o.name, k.name, u.name, ledger_ms(u.word_at), l.live,
    CASE WHEN l.live > 0 AND u.word_at + k.carry_max_ms * interval '1 millisecond' < (SELECT clock_timestamp())
    THEN ledger_ms(u.word_at) + k.carry_max_ms END,
    ledger_ms(u.held_since)
FROM ledger_source AS u
JOIN ledger_cluster AS k ON k.id = u.cluster_id
JOIN ledger_organization AS o ON o.id = k.organization_id
CROSS JOIN LATERAL (SELECT count(*) AS live FROM ledger_span AS s WHERE s.source_id = u.id AND s.until IS NULL) AS l
WHERE %(clusters)s::bigint[] IS NULL OR k.id = ANY (%(clusters)s::bigint[])
ORDER BY o.name, k.name, u.name;
