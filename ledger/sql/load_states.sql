-- States from an instant on, in their order.
SELECT
    s.worker_id, ledger_ms(s.at), s.attempt, s.phase, s.content,
    s.reason, s.gpus_milli, s.machine_id, s.pool_id, s.stalled, s.source_id, s.folded
FROM unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS d (worker_id, since)
JOIN ledger_state AS s ON s.worker_id = d.worker_id AND s.at >= ledger_at(d.since)
ORDER BY s.worker_id, s.at, s.attempt, s.phase, s.content;
