-- The workers of a run that have had any time within [start, end).
SELECT w.id, w.name
FROM ledger_worker AS w
WHERE w.run_id = %(run)s AND EXISTS (
    SELECT FROM ledger_span AS s
    WHERE s.worker_id = w.id AND s.since < ledger_at(%(end)s) AND (s.until IS NULL OR s.until > ledger_at(%(start)s))
);
