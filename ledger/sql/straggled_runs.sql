-- The last ten runs on each of these machines that may be seen, the newest first; instants in ms. Of those that had a
-- straggler there: how often, for how long together, when, and who was slowest beside its gang. The walk goes back from
-- run to run, so that a machine's past is not read further than its tenth run.
-- Prepared for each in_cluster.
SELECT
    m.name, r.name, r.uid, o.name, coalesce(t.times, 0), coalesce(t.lasted, 0), ledger_ms(t.since), ledger_ms(t.until),
    coalesce(t.still, false), t.worker, t.step_ms, t.gang_ms, t.behind
FROM ledger_machine AS m
CROSS JOIN LATERAL (
    WITH RECURSIVE last AS (
        SELECT '{}'::bigint[] AS seen, NULL::bigint AS run_id, 'infinity'::timestamptz AS hour
        UNION ALL
        SELECT l.seen || n.run_id, n.run_id, n.hour
        FROM last AS l
        CROSS JOIN LATERAL (
            SELECT * FROM (
                (
                    SELECT c.run_id, 'infinity'::timestamptz AS hour
                    FROM ledger_opencell AS c
                    JOIN ledger_run AS x ON x.id = c.run_id AND x.workspace_id = ANY (%(workspaces)s::bigint[])
                    WHERE c.cluster_id = m.cluster_id AND c.machine_id = m.id AND c.run_id <> ALL (l.seen)
                    ORDER BY c.run_id DESC LIMIT 1
                )
                UNION ALL
                (
                    SELECT h.run_id, h.hour
                    FROM ledger_hour AS h
                    JOIN ledger_run AS x ON x.id = h.run_id AND x.workspace_id = ANY (%(workspaces)s::bigint[])
                    WHERE h.machine_id = m.id AND h.machine_id > 1 AND h.hour <= l.hour AND h.run_id <> ALL (l.seen)
                    ORDER BY h.hour DESC, h.run_id DESC LIMIT 1
                )
            ) AS newest
            ORDER BY hour DESC LIMIT 1
        ) AS n
        WHERE cardinality(l.seen) < 10
    )
    SELECT run_id, cardinality(seen) AS place FROM last WHERE run_id IS NOT NULL
) AS u
JOIN ledger_run AS r ON r.id = u.run_id
JOIN ledger_workspace AS o ON o.id = r.workspace_id
LEFT JOIN LATERAL (
    SELECT
        count(*) OVER all_of_it AS times, (sum(ledger_ms(s.upto) - ledger_ms(s.since)) OVER all_of_it)::bigint AS lasted,
        min(s.since) OVER all_of_it AS since, max(s.upto) OVER all_of_it AS until, bool_or(s.still) OVER all_of_it AS still,
        w.name AS worker, s.step_ms, s.gang_ms, s.behind
    FROM (
        SELECT worker_id, since, step_ms, gang_ms, behind, coalesce(until, ledger_at(%(now)s)) AS upto, until IS NULL AS still
        FROM ledger_straggle WHERE machine_id = m.id AND confirmed
    ) AS s
    JOIN ledger_worker AS w ON w.id = s.worker_id AND w.run_id = u.run_id
    WINDOW all_of_it AS ()
    ORDER BY s.step_ms::double precision / greatest(s.gang_ms, 1) DESC, s.since DESC, w.id
    LIMIT 1
) AS t ON true
WHERE m.name = ANY (%(machines)s::text[]) AND m.id > 1 AND (NOT %(in_cluster)s OR m.cluster_id = %(cluster)s)
ORDER BY m.name, m.id, u.place;
