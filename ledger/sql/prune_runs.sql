-- Runs of which nothing is kept: over, each worker of them, before the edge. `gone` are the numbers of the phases that are
-- no life. A run that is merely named waits for its workers.
SELECT r.id
FROM ledger_run AS r
WHERE r.cluster_id = %(cluster)s AND (%(only)s::bigint[] IS NULL OR r.id = ANY (%(only)s::bigint[]))
  AND coalesce(r.submitted_at < ledger_at(%(edge)s), true) AND coalesce(r.ended_at < ledger_at(%(edge)s), true)
  AND NOT EXISTS (
    SELECT FROM ledger_worker AS w WHERE w.run_id = r.id AND NOT (
        w.phase = ANY (%(gone)s::smallint[]) AND w.due IS NULL
        AND coalesce(w.busy_at < ledger_at(%(edge)s), true) AND coalesce(w.step_at < ledger_at(%(edge)s), true)
        AND coalesce(w.covered_to <= ledger_at(%(edge)s), true)
        AND NOT EXISTS (SELECT FROM ledger_span AS s WHERE s.worker_id = w.id)
        AND NOT EXISTS (SELECT FROM ledger_state AS s WHERE s.worker_id = w.id AND s.at >= ledger_at(%(edge)s))
        AND NOT EXISTS (SELECT FROM ledger_gone AS g WHERE g.worker_id = w.id AND g.at >= ledger_at(%(edge)s))
        AND NOT EXISTS (
            SELECT FROM ledger_listing AS l JOIN ledger_source AS o ON o.id = l.source_id
            WHERE l.worker_id = w.id AND coalesce(l.missing_since, o.list_at) >= ledger_at(%(edge)s)
        )
        AND EXISTS (SELECT FROM ledger_state AS s WHERE s.worker_id = w.id)
    )
  )
  AND (r.ended_at IS NOT NULL OR EXISTS (SELECT FROM ledger_worker AS w WHERE w.run_id = r.id))
  AND NOT EXISTS (SELECT FROM ledger_hour AS h WHERE h.run_id = r.id)
  AND NOT EXISTS (SELECT FROM ledger_dayrun AS d WHERE d.run_id = r.id)
  AND NOT EXISTS (SELECT FROM ledger_opencell AS c WHERE c.cluster_id = r.cluster_id AND c.run_id = r.id)
ORDER BY r.id LIMIT %(limit)s;
