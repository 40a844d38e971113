-- Rows that a correction left empty: two ledgers are equal with absent = 0.
DELETE FROM ledger_hour AS h
USING unnest(%(hours)s::bigint[], %(runs)s::bigint[], %(machines)s::bigint[], %(pools)s::bigint[])
    AS d (hour_ms, run_id, machine_id, pool_id)
WHERE h.cluster_id = %(cluster)s AND h.hour = ledger_at(d.hour_ms)
  AND h.run_id = d.run_id AND h.machine_id = d.machine_id AND h.pool_id = d.pool_id
  AND h.hour >= ledger_at(%(first)s) AND h.hour <= ledger_at(%(last)s)
  AND num_nonnulls(h.productive, h.idle, h.stalled, h.starting, h.restart, h.failure, h.preemption, h.waiting, h.unobserved, h.unobserved_productive) = 0;
