-- The edge moves; never back. Days before it are no longer to be rolled up.
WITH moved AS (
    UPDATE ledger_cluster SET kept_from = ledger_at(%(edge)s)
    WHERE id = %(cluster)s AND (kept_from IS NULL OR kept_from < ledger_at(%(edge)s))
    RETURNING id
)
DELETE FROM ledger_dirtyday AS d USING moved
WHERE d.cluster_id = moved.id AND d.day < ledger_at(%(edge)s);
