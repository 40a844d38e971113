-- Proven stalls that reach over an instant or come after it.
SELECT s.worker_id, ledger_ms(s.progress_at), ledger_ms(s.proof_at), ledger_ms(s.until)
FROM unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS d (worker_id, since)
JOIN ledger_stall AS s ON s.worker_id = d.worker_id AND (s.until IS NULL OR s.until > ledger_at(d.since))
ORDER BY s.worker_id, s.progress_at;
