-- Workers by run and name, with the newest of their streams; instants in ms.
SELECT
    w.run_id, w.name, w.id, ledger_ms(w.stay_since),
    ledger_ms(w.busy_at), w.busy, ledger_ms(w.step_at), w.step, w.step_ms, ledger_ms(w.progress_at), w.proven,
    ledger_ms(w.covered_from), ledger_ms(w.covered_to), ledger_ms(w.told_from), ledger_ms(w.told_to),
    w.doing, w.recent
FROM unnest(%(runs)s::bigint[], %(names)s::text[]) AS n (run_id, name)
JOIN ledger_worker AS w USING (run_id, name);
