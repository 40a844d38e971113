-- The runs of workers, locked in the order of their ids.
SELECT id FROM ledger_run
WHERE id IN (SELECT run_id FROM ledger_worker WHERE id = ANY (%(workers)s::bigint[]))
ORDER BY id
FOR NO KEY UPDATE;
