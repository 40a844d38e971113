-- The rows that stand for "none": pool 0, machine 0 (not held) and machine 1 (held on a machine nobody named).
INSERT INTO ledger_pool (id, cluster_id, name) VALUES (0, NULL, 'none') ON CONFLICT DO NOTHING;
INSERT INTO ledger_machine (id, cluster_id, name, pool_id) VALUES (0, NULL, 'unplaced', 0), (1, NULL, 'unknown', 0)
ON CONFLICT DO NOTHING;
SELECT setval(pg_get_serial_sequence('ledger_machine', 'id'), greatest(1, (SELECT max(id) FROM ledger_machine)));
