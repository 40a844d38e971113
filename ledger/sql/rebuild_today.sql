-- Every closed hour of the running day is to be rolled up again.
INSERT INTO ledger_dirtyhour (cluster_id, hour)
SELECT k.id, hour
FROM ledger_cluster AS k, generate_series(
    date_trunc('day', k.open_hour, 'UTC'), k.open_hour - interval '1 hour', interval '1 hour'
) AS hour
WHERE k.id = %(cluster)s
ON CONFLICT (cluster_id, hour) DO UPDATE SET hour = EXCLUDED.hour;
