-- Machines of a cluster that were named for the first time.
INSERT INTO ledger_machine (cluster_id, name, pool_id)
SELECT %(cluster)s, name, 0 FROM unnest(%(names)s::text[]) AS name ORDER BY name
ON CONFLICT DO NOTHING;
