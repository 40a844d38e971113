-- Settings that act when a sample arrives; null = as it was.
UPDATE ledger_cluster SET
    busy_threshold_milli_percent = coalesce(%(busy)s, busy_threshold_milli_percent),
    stall_after_ms = coalesce(%(stall)s, stall_after_ms),
    carry_max_ms = coalesce(%(carry)s, carry_max_ms),
    auto_workspaces = coalesce(%(auto)s, auto_workspaces)
WHERE id = %(cluster)s;
