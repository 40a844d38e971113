-- Drops a monthly partition of closed hours, one session at a time with those that make them (the advisory lock 0x60DC).
CREATE FUNCTION ledger_drop_partition(part text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(24796, 0);
    IF part !~ '^ledger_hour_\d{4}_\d{2}$' OR to_regclass(part) IS NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE %I', part);
    RETURN true;
END $$;
