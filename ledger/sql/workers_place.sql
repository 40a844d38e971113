-- Which pod workers are and which devices they have; null = not said.
UPDATE ledger_worker AS w SET pod = coalesce(n.pod, w.pod), devices = coalesce(n.devices, w.devices)
FROM unnest(%(workers)s::bigint[], %(pods)s::text[], %(devices)s::text[]) AS n (id, pod, devices)
WHERE w.id = n.id AND (w.pod, w.devices) IS DISTINCT FROM (coalesce(n.pod, w.pod), coalesce(n.devices, w.devices));
