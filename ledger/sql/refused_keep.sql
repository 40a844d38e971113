-- Items that were not counted, kept for whoever sent them.
INSERT INTO ledger_refused (cluster_id, received_at, source, list, index, field, error, item)
SELECT %(cluster)s, ledger_at(%(now)s), %(source)s, list, index, field, error, item::jsonb
FROM unnest(%(lists)s::text[], %(indexes)s::integer[], %(fields)s::text[], %(errors)s::text[], %(items)s::text[])
    AS n (list, index, field, error, item);
