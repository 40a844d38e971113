-- Pools of a cluster that were named for the first time.
INSERT INTO ledger_pool (cluster_id, name)
SELECT %(cluster)s, name FROM unnest(%(names)s::text[]) AS name ORDER BY name
ON CONFLICT DO NOTHING;
