-- What the input pipelines of a run's workers took in some hours, in microseconds, and how its training goes now.
SELECT
    w.name, coalesce(sum(p.batches), 0)::bigint, coalesce(sum(p.wall_us), 0)::bigint, coalesce(sum(p.source_us), 0)::bigint,
    coalesce(sum(p.transform_us), 0)::bigint, coalesce(sum(p.transfer_us), 0)::bigint, ledger_ms(max(p.at)),
    w.step, ledger_ms(w.step_at), w.step_ms, w.doing, w.recent
FROM ledger_worker AS w
LEFT JOIN ledger_pipelinehour AS p
    ON p.worker_id = w.id AND p.hour >= ledger_at(%(start)s) AND p.hour < ledger_at(%(end)s)
WHERE w.run_id = %(run)s AND (p.worker_id IS NOT NULL OR w.step IS NOT NULL)
GROUP BY w.id, w.name
ORDER BY w.name;
