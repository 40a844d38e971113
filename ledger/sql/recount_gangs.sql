-- The workers of runs whose gangs are counted together.
SELECT run_id, id FROM ledger_worker WHERE run_id = ANY (%(runs)s::bigint[]);
