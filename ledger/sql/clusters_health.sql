-- How every cluster does: how long ago lies the instant up to which it was counted (ms; null: never counted), how long the
-- last count took, how many items were refused in the last 24 hours, and when it was last pruned (ms; null: never).
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
SELECT
    o.name, k.name, ledger_ms(c.now) - ledger_ms(k.counted_until), k.count_ms,
    (SELECT count(*) FROM ledger_refused AS r
     WHERE r.cluster_id = k.id AND r.received_at > c.now - interval '24 hours'),
    ledger_ms(k.pruned_at)
FROM clock AS c CROSS JOIN ledger_cluster AS k JOIN ledger_organization AS o ON o.id = k.organization_id
ORDER BY o.name, k.name;
