-- Keeps how far a measurement's logs were folded, in place of what was kept before; a frozen one needs no more of it.
INSERT INTO ledger_logfold (measurement_id, form, packed)
SELECT run_id, %(form)s, %(packed)s FROM ledger_measurement WHERE run_id = %(run)s AND frozen IS NULL
ON CONFLICT (measurement_id) DO UPDATE SET form = excluded.form, packed = excluded.packed;
