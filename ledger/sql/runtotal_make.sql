-- The totals of runs over all their days that are rolled up.
INSERT INTO ledger_runtotal (run_id, held, productive, idle, stalled, starting, restart, failure, preemption, waiting, unobserved, unobserved_productive)
SELECT h.run_id, h.held, nullif(sum(h.productive), 0), nullif(sum(h.idle), 0), nullif(sum(h.stalled), 0), nullif(sum(h.starting), 0), nullif(sum(h.restart), 0), nullif(sum(h.failure), 0), nullif(sum(h.preemption), 0), nullif(sum(h.waiting), 0), nullif(sum(h.unobserved), 0), nullif(sum(h.unobserved_productive), 0)
FROM ledger_dayrun AS h
WHERE h.run_id = ANY (%(runs)s::bigint[])
GROUP BY h.run_id, h.held;
