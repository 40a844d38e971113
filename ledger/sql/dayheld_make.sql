-- Day × run × pool: the GPU time held and what of it was productive, which prices are put on.
INSERT INTO ledger_dayheld (cluster_id, day, run_id, pool_id, held, productive)
SELECT
    %(cluster)s, ledger_at(%(day)s), h.run_id, h.pool_id,
    sum(coalesce(h.productive, 0) + coalesce(h.idle, 0) + coalesce(h.stalled, 0) + coalesce(h.starting, 0) + coalesce(h.restart, 0) + coalesce(h.failure, 0) + coalesce(h.preemption, 0)),
    sum(coalesce(h.productive, 0))
FROM ledger_hour AS h
WHERE h.cluster_id = %(cluster)s AND h.hour >= ledger_at(%(day)s) AND h.hour < ledger_at(%(end)s)
  AND h.machine_id <> 0
GROUP BY h.run_id, h.pool_id;
