-- What was stored of each of these logs after a chunk of its own, in the order of its lines.
SELECT c.stream_id, c.id, c.first, c.packed
FROM unnest(%(logs)s::bigint[], %(after)s::bigint[]) AS l (log, after)
JOIN ledger_logchunk AS c ON c.stream_id = l.log AND c.id > l.after
ORDER BY c.stream_id, c.first;
