-- The database's clock, ms.
SELECT ledger_ms(clock_timestamp());
