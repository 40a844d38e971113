-- Everything that a fleet has, so that the next one is alone.
TRUNCATE
    ledger_organization, ledger_workspace, ledger_cluster, ledger_run, ledger_worker, ledger_source, ledger_word,
    ledger_state, ledger_flip, ledger_stall, ledger_gone, ledger_covered, ledger_told, ledger_span, ledger_listing,
    ledger_opencell, ledger_hour, ledger_eighthrun, ledger_eighthmachine, ledger_dayrun, ledger_daymachine, ledger_weekmachine, ledger_weekrun, ledger_daypool, ledger_hourpool, ledger_runtotal,
    ledger_dirtyday, ledger_dirtyhour, ledger_revision, ledger_capacity, ledger_refused
CASCADE;
DELETE FROM ledger_machine WHERE id > 1;
DELETE FROM ledger_pool WHERE id > 0;
