-- When complete lists lacked workers.
SELECT worker_id, ledger_ms(at), ledger_ms(missing_since), ledger_ms(proof)
FROM ledger_gone WHERE worker_id = ANY (%(workers)s::bigint[]);
