-- Busy flips from the one in force at an instant on.
SELECT f.worker_id, ledger_ms(f.at), f.busy
FROM unnest(%(workers)s::bigint[], %(sinces)s::bigint[]) AS d (worker_id, since)
JOIN ledger_flip AS f ON f.worker_id = d.worker_id AND f.at >= coalesce(
    (SELECT max(x.at) FROM ledger_flip AS x WHERE x.worker_id = d.worker_id AND x.at <= ledger_at(d.since)),
    '-infinity'
)
ORDER BY f.worker_id, f.at;
