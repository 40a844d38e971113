-- Every day from the first that anything knows of to the last of which something is rolled up is to be rolled up again.
INSERT INTO ledger_dirtyday (cluster_id, day)
SELECT k.id, day
FROM ledger_cluster AS k
CROSS JOIN LATERAL generate_series(
    greatest(date_trunc('day', least(
        (SELECT min(hour) FROM ledger_hour WHERE cluster_id = k.id),
        (SELECT min(eighth) FROM ledger_eighthrun WHERE cluster_id = k.id),
        (SELECT min(eighth) FROM ledger_eighthmachine WHERE cluster_id = k.id),
        (SELECT min(day) FROM ledger_dayrun WHERE cluster_id = k.id),
        (SELECT min(day) FROM ledger_daymachine WHERE cluster_id = k.id),
        (SELECT min(week) FROM ledger_weekmachine WHERE cluster_id = k.id),
        (SELECT min(week) FROM ledger_weekrun WHERE cluster_id = k.id),
        (SELECT min(day) FROM ledger_daypool WHERE cluster_id = k.id),
        (SELECT min(hour) FROM ledger_hourpool WHERE cluster_id = k.id)
    ), 'UTC'), k.kept_from),
    ledger_rolled_to(k.open_hour) - interval '1 microsecond', interval '24 hours'
) AS day
WHERE k.id = %(cluster)s
ON CONFLICT (cluster_id, day) DO UPDATE SET day = EXCLUDED.day;
