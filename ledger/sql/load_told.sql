-- Complete ranges in which workers told steps.
SELECT worker_id, ledger_ms(lower), ledger_ms(upper) FROM ledger_told WHERE worker_id = ANY (%(workers)s::bigint[]);
