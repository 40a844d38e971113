-- Closed hours of the running day whose roll-up has to be made (again). One that is dirty already is locked, so that
-- whoever makes its roll-up now waits for these changes or is waited for.
INSERT INTO ledger_dirtyhour (cluster_id, hour)
SELECT %(cluster)s, ledger_at(hour) FROM unnest(%(hours)s::bigint[]) AS hour
ORDER BY hour
ON CONFLICT (cluster_id, hour) DO UPDATE SET hour = EXCLUDED.hour;
