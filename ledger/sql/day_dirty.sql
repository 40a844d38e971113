-- Days that are over and whose roll-ups have to be made (again). A day that is dirty already is locked, so that whoever
-- makes its roll-ups now waits for these changes or is waited for.
INSERT INTO ledger_dirtyday (cluster_id, day)
SELECT %(cluster)s, ledger_at(day) FROM unnest(%(days)s::bigint[]) AS day
ORDER BY day
ON CONFLICT (cluster_id, day) DO UPDATE SET day = EXCLUDED.day;
