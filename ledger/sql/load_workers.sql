-- Workers as they were last counted, and the open ends of what their samples cover and tell; instants in ms.
SELECT
    id, run_id, phase, ledger_ms(stay_since), ledger_ms(due), watched,
    ledger_ms(covered_from), ledger_ms(covered_to), ledger_ms(told_from), ledger_ms(told_to)
FROM ledger_worker WHERE id = ANY (%(workers)s::bigint[]);
