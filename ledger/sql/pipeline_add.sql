-- What input pipelines took, added to the hours in which it was reported.
INSERT INTO ledger_pipelinehour AS p (
    worker_id, hour, at, batches, wall_us, source_us, transform_us, transfer_us
)
SELECT
    worker_id, date_trunc('hour', max(ledger_at(at)), 'UTC'), max(ledger_at(at)), sum(batches), sum(wall_us), sum(source_us),
    sum(transform_us), sum(transfer_us)
FROM unnest(
    %(workers)s::bigint[], %(ats)s::bigint[], %(batches)s::bigint[], %(walls)s::bigint[], %(sources)s::bigint[],
    %(transforms)s::bigint[], %(transfers)s::bigint[]
) AS n (worker_id, at, batches, wall_us, source_us, transform_us, transfer_us)
GROUP BY worker_id, date_trunc('hour', ledger_at(at), 'UTC')
ORDER BY 1, 2
ON CONFLICT (worker_id, hour) DO UPDATE SET
    at = greatest(p.at, EXCLUDED.at), batches = p.batches + EXCLUDED.batches, wall_us = p.wall_us + EXCLUDED.wall_us,
    source_us = p.source_us + EXCLUDED.source_us, transform_us = p.transform_us + EXCLUDED.transform_us,
    transfer_us = p.transfer_us + EXCLUDED.transfer_us;
