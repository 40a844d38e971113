-- After a bulk load, before it is added up: the planner has to know what has come in.
ANALYZE ledger_run, ledger_worker, ledger_state, ledger_span, ledger_hour;
