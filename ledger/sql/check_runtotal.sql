-- Totals of runs that differ from the sum of their days.
WITH told AS (
    SELECT h.run_id, h.held, nullif(sum(h.productive), 0) AS productive, nullif(sum(h.idle), 0) AS idle, nullif(sum(h.stalled), 0) AS stalled, nullif(sum(h.starting), 0) AS starting, nullif(sum(h.restart), 0) AS restart, nullif(sum(h.failure), 0) AS failure, nullif(sum(h.preemption), 0) AS preemption, nullif(sum(h.waiting), 0) AS waiting, nullif(sum(h.unobserved), 0) AS unobserved, nullif(sum(h.unobserved_productive), 0) AS unobserved_productive
    FROM ledger_dayrun AS h WHERE h.cluster_id = %(cluster)s
    GROUP BY h.run_id, h.held
), kept AS (
    SELECT t.* FROM ledger_runtotal AS t JOIN ledger_run AS r ON r.id = t.run_id WHERE r.cluster_id = %(cluster)s
)
SELECT coalesce(k.run_id, t.run_id)::text, coalesce(k.held, t.held)::text
FROM kept AS k
FULL JOIN told AS t USING (run_id, held)
WHERE (k.productive, k.idle, k.stalled, k.starting, k.restart, k.failure, k.preemption, k.waiting, k.unobserved, k.unobserved_productive) IS DISTINCT FROM (t.productive, t.idle, t.stalled, t.starting, t.restart, t.failure, t.preemption, t.waiting, t.unobserved, t.unobserved_productive)
ORDER BY 1, 2;
