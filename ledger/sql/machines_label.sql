-- What a source says of machines now; null = not said.
UPDATE ledger_machine AS m SET
    pool_id = coalesce(n.pool_id, m.pool_id), gpus_milli = coalesce(n.gpus_milli, m.gpus_milli),
    ready = coalesce(n.ready, m.ready)
FROM unnest(%(machines)s::bigint[], %(pools)s::bigint[], %(gpus)s::integer[], %(ready)s::boolean[])
    AS n (id, pool_id, gpus_milli, ready)
WHERE m.id = n.id
  AND (m.pool_id, m.gpus_milli, m.ready) IS DISTINCT FROM (
    coalesce(n.pool_id, m.pool_id), coalesce(n.gpus_milli, m.gpus_milli), coalesce(n.ready, m.ready)
  );
