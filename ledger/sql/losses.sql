-- What a run lost within [start, end): time of one kind that touches or overlaps over its workers is one loss; the
-- categories of `together` are one kind, for a failure and the restart after it are one story. The costliest first.
WITH clock AS MATERIALIZED (
    SELECT id, least(greatest((SELECT clock_timestamp()), ledger_counted(id)), open_hour + interval '1 hour') AS until
    FROM ledger_cluster WHERE id = (SELECT cluster_id FROM ledger_run WHERE id = %(run)s)
), alike AS MATERIALIZED (
    -- a gang loses together: what its workers lost from one instant to another is one piece
    SELECT
        CASE WHEN s.category = ANY (%(together)s::int[]) THEN -1 ELSE s.category END AS kind,
        s.category, s.machine_id <> 0 AS held, s.since, s.until, k.until AS counted,
        sum(s.gpus_milli) AS gpus_milli, array_agg(w.id ORDER BY w.id) AS ids, min(w.name) AS first
    FROM ledger_worker AS w
    JOIN clock AS k ON k.id = w.cluster_id
    JOIN ledger_span AS s ON s.worker_id = w.id
    WHERE w.run_id = %(run)s AND s.category <> %(productive)s AND s.since < k.until
      AND s.since < ledger_at(%(end)s) AND (s.until IS NULL OR s.until > ledger_at(%(start)s))
    GROUP BY 1, 2, 3, 4, 5, 6
), pieces AS (
    SELECT
        kind, category, held, gpus_milli, ids, first, until IS NULL AS still, greatest(ledger_ms(since), %(start)s) AS since,
        least(coalesce(ledger_ms(until), ledger_ms(counted)), ledger_ms(counted), %(end)s) AS until
    FROM alike
), marked AS (
    SELECT *, since > max(until) OVER (
        PARTITION BY kind ORDER BY since, until, category, held ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS begins
    FROM pieces
), numbered AS MATERIALIZED (
    SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY kind ORDER BY since, until, category, held) AS number
    FROM marked
), losses AS (
    SELECT
        kind, number, min(since) AS since, max(until) AS until, bool_or(still AND until < %(end)s) AS still,
        (array_agg(first ORDER BY since, first))[1] AS first,
        sum(gpus_milli * (until - since)) AS cost,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 1), 0) AS idle,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 2), 0) AS stalled,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 3), 0) AS starting,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 4), 0) AS restart,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 5), 0) AS failure,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 6), 0) AS preemption,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 7), 0) AS waiting,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 1 AND held), 0) AS held_idle,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 2 AND held), 0) AS held_stalled,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 3 AND held), 0) AS held_starting,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 4 AND held), 0) AS held_restart,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 5 AND held), 0) AS held_failure,
        coalesce(sum(gpus_milli * (until - since)) FILTER (WHERE category = 6 AND held), 0) AS held_preemption
    FROM numbered
    GROUP BY kind, number
), shown AS MATERIALIZED (
    SELECT *, count(*) OVER () AS count FROM losses ORDER BY cost DESC, since, kind LIMIT %(limit)s
), members AS (
    SELECT n.kind, n.number, array_agg(DISTINCT id) AS ids
    FROM shown AS l JOIN numbered AS n ON n.kind = l.kind AND n.number = l.number CROSS JOIN unnest(n.ids) AS id
    GROUP BY n.kind, n.number
)
SELECT
    l.count, l.since, l.until, l.still, cardinality(w.ids), l.first,
    coalesce((
        SELECT m.name
        FROM ledger_worker AS f
        JOIN ledger_span AS s ON s.worker_id = f.id
        JOIN ledger_machine AS m ON m.id = s.machine_id
        WHERE f.run_id = %(run)s AND f.name = l.first AND s.since <= ledger_at(l.since) AND s.machine_id > 1
        ORDER BY s.since DESC LIMIT 1
    ), ''),
    ARRAY(
        SELECT DISTINCT t.reason FROM ledger_state AS t
        WHERE t.worker_id = ANY (w.ids) AND t.at >= ledger_at(l.since) AND t.at < ledger_at(l.until)
          AND t.reason = ANY (%(reasons)s::text[])
        ORDER BY t.reason
    ),
    0, idle, stalled, starting, restart, failure, preemption, waiting, 0, 0,
    0, held_idle, held_stalled, held_starting, held_restart, held_failure, held_preemption, 0
FROM shown AS l JOIN members AS w ON w.kind = l.kind AND w.number = l.number
ORDER BY l.cost DESC, l.since, l.kind;
