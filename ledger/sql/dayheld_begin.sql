-- What was rolled up before this roll-up was: its days from their hours.
INSERT INTO ledger_dayheld (cluster_id, day, run_id, pool_id, held, productive)
SELECT
    h.cluster_id, date_trunc('day', h.hour, 'UTC'), h.run_id, h.pool_id,
    sum(coalesce(h.productive, 0) + coalesce(h.idle, 0) + coalesce(h.stalled, 0) + coalesce(h.starting, 0) + coalesce(h.restart, 0) + coalesce(h.failure, 0) + coalesce(h.preemption, 0)),
    sum(coalesce(h.productive, 0))
FROM ledger_hour AS h
JOIN ledger_cluster AS k ON k.id = h.cluster_id
WHERE h.machine_id <> 0 AND h.hour < date_trunc('day', k.open_hour, 'UTC')
  AND NOT EXISTS (SELECT FROM ledger_dirtyday AS d WHERE d.cluster_id = h.cluster_id AND d.day = date_trunc('day', h.hour, 'UTC'))
GROUP BY 1, 2, 3, 4;
