-- Workers of a cluster that run and take steps, by run: as their last samples tell; instants in ms.
SELECT run_id, id, step, ledger_ms(step_at), ledger_ms(progress_at), recent
FROM ledger_worker
WHERE cluster_id = %(cluster)s AND step_at > ledger_at(%(fresh)s) AND stay_since <= step_at
  AND doing = 0 AND cardinality(recent) >= 5
ORDER BY run_id, id;
