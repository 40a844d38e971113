-- When machines became ready or stopped being it; written only when it differs from what holds already.
INSERT INTO ledger_readiness (machine_id, at, ready)
SELECT n.machine_id, ledger_at(%(at)s), n.ready
FROM unnest(%(machines)s::bigint[], %(ready)s::boolean[]) AS n (machine_id, ready)
WHERE n.ready IS DISTINCT FROM (
    SELECT r.ready FROM ledger_readiness AS r
    WHERE r.machine_id = n.machine_id AND r.at <= ledger_at(%(at)s)
    ORDER BY r.at DESC LIMIT 1
)
ORDER BY n.machine_id
ON CONFLICT (machine_id, at) DO UPDATE SET ready = EXCLUDED.ready;
