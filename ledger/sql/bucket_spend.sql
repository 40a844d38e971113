-- One from the bucket of a key, if it has one left: it holds `most`, and is full again `seconds` after the first was
-- taken. The row's lock makes it exact whoever asks at once. What is left to wait, ms; 0 = it may pass.
WITH passed AS (
    INSERT INTO ledger_bucket AS b (key, spent, until)
    VALUES (%(key)s, 1, clock_timestamp() + %(seconds)s * interval '1 second')
    ON CONFLICT (key) DO UPDATE SET
        spent = CASE WHEN b.until <= clock_timestamp() THEN 1 ELSE b.spent + 1 END,
        until = CASE WHEN b.until <= clock_timestamp() THEN EXCLUDED.until ELSE b.until END
    WHERE b.until <= clock_timestamp() OR b.spent < %(most)s
    RETURNING 1
)
SELECT CASE WHEN EXISTS (SELECT FROM passed) THEN 0 ELSE greatest(1, coalesce(
    (SELECT ledger_ms(until) FROM ledger_bucket WHERE key = %(key)s) - ledger_ms(clock_timestamp()), 1
)) END;
