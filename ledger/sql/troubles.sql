-- What machines lost while they were held to stalls, failures, preemptions and starts after them, within [start, end):
-- time of one run on one machine that touches or overlaps over its workers is one trouble. The costliest first. `ids`
-- are machines or pools, as `kind` says; '': any. Only of those that are shown more is told than when and how much.
-- Prepared for each kind.
WITH clock AS MATERIALIZED (
    SELECT id, least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour') AS until
    FROM ledger_cluster
    WHERE organization_id IN (SELECT organization_id FROM ledger_workspace WHERE id = ANY (%(workspaces)s::bigint[]))
), pieces AS (
    SELECT
        s.machine_id, w.run_id, w.id AS worker_id, s.category, s.gpus_milli, s.until IS NULL AS still,
        s.category = 2 AS stall,
        greatest(ledger_ms(s.since), %(start)s) AS since,
        least(coalesce(ledger_ms(s.until), ledger_ms(k.until)), ledger_ms(k.until), %(end)s) AS until
    FROM ledger_span AS s
    JOIN clock AS k ON k.id = s.cluster_id
    JOIN ledger_worker AS w ON w.id = s.worker_id
    JOIN ledger_run AS r ON r.id = w.run_id
    WHERE s.machine_id > 1 AND s.category IN (2, 4, 5, 6)
      AND (%(kind)s <> 'machine' OR s.machine_id = ANY (%(ids)s::bigint[]))
      AND (%(kind)s <> 'pool' OR s.pool_id = ANY (%(ids)s::bigint[]))
      AND r.workspace_id = ANY (%(workspaces)s::bigint[]) AND s.since < k.until
      AND s.since < ledger_at(%(end)s) AND (s.until IS NULL OR s.until > ledger_at(%(start)s))
), marked AS (
    SELECT *, since > max(until) OVER (
        PARTITION BY machine_id, run_id, stall ORDER BY since, until, worker_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS begins
    FROM pieces
), numbered AS MATERIALIZED (
    SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY machine_id, run_id, stall ORDER BY since, until, worker_id) AS number
    FROM marked
), troubles AS (
    SELECT
        machine_id, run_id, stall, number, min(since) AS since, max(until) AS until,
        ledger_sum(gpus_milli * (until - since)) AS cost
    FROM numbered
    GROUP BY machine_id, run_id, stall, number
), shown AS MATERIALIZED (
    SELECT *, count(*) OVER () AS count, sum(cost) OVER () AS all_of_it
    FROM troubles ORDER BY cost DESC, since, machine_id, run_id, stall LIMIT %(limit)s
), parts AS (
    SELECT
        machine_id, run_id, stall, number, bool_or(n.still AND n.until < %(end)s) AS still, array_agg(DISTINCT worker_id) AS ids,
        coalesce(ledger_sum(gpus_milli * (n.until - n.since)) FILTER (WHERE category = 2), 0) AS stalled,
        coalesce(ledger_sum(gpus_milli * (n.until - n.since)) FILTER (WHERE category = 4), 0) AS restart,
        coalesce(ledger_sum(gpus_milli * (n.until - n.since)) FILTER (WHERE category = 5), 0) AS failure,
        coalesce(ledger_sum(gpus_milli * (n.until - n.since)) FILTER (WHERE category = 6), 0) AS preemption
    FROM numbered AS n
    JOIN shown AS t USING (machine_id, run_id, stall, number)
    GROUP BY machine_id, run_id, stall, number
)
SELECT
    t.count, t.all_of_it, t.since, t.until, w.still, m.name, p.name, r.name, r.uid, o.name, cardinality(w.ids),
    ARRAY(
        SELECT DISTINCT e.reason FROM ledger_state AS e
        WHERE e.worker_id = ANY (w.ids) AND e.at >= ledger_at(t.since) AND e.at < ledger_at(t.until)
          AND e.reason = ANY (%(reasons)s::text[])
        ORDER BY e.reason
    ),
    w.stalled, w.restart, w.failure, w.preemption
FROM shown AS t
JOIN parts AS w ON w.machine_id = t.machine_id AND w.run_id = t.run_id AND w.stall = t.stall AND w.number = t.number
JOIN ledger_machine AS m ON m.id = t.machine_id
JOIN ledger_pool AS p ON p.id = m.pool_id
JOIN ledger_run AS r ON r.id = t.run_id
JOIN ledger_workspace AS o ON o.id = r.workspace_id
ORDER BY t.cost DESC, t.since, t.machine_id, t.run_id, t.stall;
