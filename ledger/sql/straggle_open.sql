-- Workers of a cluster that were found to be stragglers at the last look, locked in the order of their ids.
SELECT s.worker_id, ledger_ms(s.since), s.confirmed
FROM ledger_straggle AS s JOIN ledger_worker AS w ON w.id = s.worker_id
WHERE s.until IS NULL AND w.cluster_id = %(cluster)s
ORDER BY s.worker_id
FOR UPDATE OF s;
