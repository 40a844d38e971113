-- Workers of a run by name, and the newest report of each that is counted; instants in ms.
SELECT w.name, w.id, (SELECT ledger_ms(max(p.at)) FROM ledger_pipelinehour AS p WHERE p.worker_id = w.id)
FROM ledger_worker AS w
WHERE w.run_id = %(run)s AND w.name = ANY (%(names)s::text[]);
