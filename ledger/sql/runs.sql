-- Runs of workspaces, those that go on first, then the newest; with what they hold and ask for now.
WITH live AS (
    SELECT w.run_id, sum(s.gpus_milli) FILTER (WHERE s.machine_id <> 0) AS held,
        sum(s.gpus_milli) FILTER (WHERE s.machine_id = 0) AS waiting, bool_or(s.category = 2 AND s.machine_id <> 0) AS stalled
    FROM ledger_span AS s JOIN ledger_worker AS w ON w.id = s.worker_id JOIN ledger_run AS r ON r.id = w.run_id
    WHERE s.until IS NULL AND r.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(cluster)s = 0 OR r.cluster_id = %(cluster)s)
      AND (%(run)s = '' OR r.name = %(run)s OR r.uid = %(run)s)
      AND (%(uid)s = '' OR r.uid = %(uid)s)
    GROUP BY w.run_id
), matching AS (
    SELECT
        r.id, r.name, r.uid, o.name AS workspace, r.kind, r."user", k.name AS cluster,
        ledger_ms(r.submitted_at) AS submitted_at, ledger_ms(r.ended_at) AS ended_at, r.outcome, r.min_goodput_milli,
        coalesce(l.held, 0)::bigint AS held, coalesce(l.waiting, 0)::bigint AS waiting, coalesce(l.stalled, false) AS stalled,
        l.run_id IS NOT NULL AS going, r.verdict
    FROM ledger_run AS r
    JOIN ledger_workspace AS o ON o.id = r.workspace_id
    JOIN ledger_cluster AS k ON k.id = r.cluster_id
    LEFT JOIN live AS l ON l.run_id = r.id
    WHERE r.workspace_id = ANY (%(workspaces)s::bigint[])
      AND (%(workspace)s = '' OR o.name = %(workspace)s)
      AND (%(user)s = '' OR r."user" = %(user)s)
      AND (%(cluster)s = 0 OR r.cluster_id = %(cluster)s)
      AND (%(run)s = '' OR r.name = %(run)s OR r.uid = %(run)s)
      AND (%(uid)s = '' OR r.uid = %(uid)s)
      AND (%(q)s = '' OR strpos(lower(r.name), lower(%(q)s)) > 0)
      AND (%(going)s IS NULL OR %(going)s = (l.run_id IS NOT NULL))
)
SELECT count(*) OVER (), m.* FROM matching AS m
ORDER BY going DESC, submitted_at DESC NULLS LAST, id DESC
LIMIT %(limit)s OFFSET %(offset)s;
