-- A source that spoke for the first time.
INSERT INTO ledger_source (cluster_id, name, confirmed) VALUES (%(cluster)s, %(name)s, false) ON CONFLICT DO NOTHING;
