-- From when on workers have to be counted again: a changed state can move a death back to its proof, and make or break
-- a stay in which a stall began earlier; and what time alone changed since the last look is counted with it.
SELECT d.worker_id, w.run_id, r.has_stalls, least(g.since, (
    SELECT ledger_ms(min(s.progress_at)) FROM ledger_stall AS s
    WHERE s.worker_id = d.worker_id AND s.progress_at < ledger_at(g.since)
      AND (s.until IS NULL OR s.until >= ledger_at(g.since) OR s.proof_at >= ledger_at(g.since))
))
FROM unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS d (worker_id, since)
JOIN ledger_worker AS w ON w.id = d.worker_id
JOIN ledger_run AS r ON r.id = w.run_id
CROSS JOIN LATERAL (
    SELECT least(d.since, ledger_ms(w.due), %(checked)s, CASE WHEN w.watched THEN ledger_ms(w.covered_to) END, (
        SELECT ledger_ms(min(x.proof)) FROM ledger_gone AS x
        WHERE x.worker_id = d.worker_id AND x.at >= ledger_at(d.since)
    )) AS since
) AS g;
