-- Final hours that later evidence moved.
INSERT INTO ledger_revision (cluster_id, hour, revised_at)
SELECT %(cluster)s, ledger_at(hour), ledger_at(%(now)s) FROM unnest(%(hours)s::bigint[]) AS hour
ORDER BY hour
ON CONFLICT (cluster_id, hour) DO UPDATE SET revised_at = EXCLUDED.revised_at;
