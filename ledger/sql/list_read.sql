-- The workers that a source's lists have named: are they missing, since when, and do they live.
SELECT
    l.worker_id, ledger_ms(l.missing_since), ledger_ms(l.proof), l.stored, w.phase NOT IN (0, 7)
FROM ledger_listing AS l JOIN ledger_worker AS w ON w.id = l.worker_id
WHERE l.source_id = %(source)s;
