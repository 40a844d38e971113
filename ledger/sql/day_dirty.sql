-- Days that are over and whose roll-ups have to be made (again).
INSERT INTO ledger_dirtyday (cluster_id, day)
SELECT %(cluster)s, ledger_at(day) FROM unnest(%(days)s::bigint[]) AS day
ORDER BY day
ON CONFLICT DO NOTHING;
