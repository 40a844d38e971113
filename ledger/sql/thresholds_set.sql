-- Settings that act when a sample arrives, and those of alerts; null = as it was.
UPDATE ledger_cluster SET
    busy_threshold_milli_percent = coalesce(%(busy)s, busy_threshold_milli_percent),
    stall_after_ms = coalesce(%(stall)s, stall_after_ms),
    carry_max_ms = coalesce(%(carry)s, carry_max_ms),
    auto_workspaces = coalesce(%(auto)s, auto_workspaces),
    drop_below_milli_percent = coalesce(%(drop_below)s, drop_below_milli_percent),
    drop_points_milli = coalesce(%(drop_points)s, drop_points_milli),
    drop_least_held_us = coalesce(%(drop_least_held)s, drop_least_held_us),
    straggler_milli = coalesce(%(straggler)s, straggler_milli)
WHERE id = %(cluster)s;
