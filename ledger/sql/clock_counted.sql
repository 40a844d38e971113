-- Up to where anything of a cluster was counted: the clock may step back, what is told at an instant before would be
-- less than nothing.
CREATE FUNCTION ledger_counted(cluster bigint) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (
    SELECT greatest(
        counted_until, checked_to, categorized_at, (SELECT max(heard_at) FROM ledger_source WHERE cluster_id = k.id)
    )
    FROM ledger_cluster AS k WHERE k.id = cluster
);
