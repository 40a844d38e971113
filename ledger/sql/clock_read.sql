-- The database's clock, read after the lock is held, and the cluster's settings. Times in ms.
SELECT
    ledger_ms(clock_timestamp()) AS clock,
    ledger_ms(ledger_counted(id)) AS counted,
    ledger_ms(open_hour) AS open_hour,
    ledger_ms(first_hour) AS first_hour,
    ledger_ms(final_to) AS final_to,
    ledger_ms(checked_to) AS checked_to,
    busy_threshold_milli_percent, stall_after_ms, carry_max_ms, auto_workspaces, organization_id,
    coalesce(ledger_ms(kept_from), 0) AS kept_from
FROM ledger_cluster WHERE id = %(cluster)s;
