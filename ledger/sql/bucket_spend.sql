-- One from the bucket of a key, if it has one left: it holds `most`, and is full again `seconds` after the first was
-- taken. The row's lock makes it exact whoever asks at once, and the clock is read once: a bucket that was not yet full
-- again a moment ago is not half filled. What is left to wait, ms; 0 = it may pass.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), passed AS (
    INSERT INTO ledger_bucket AS b (key, spent, until)
    SELECT %(key)s, 1, now + %(seconds)s * interval '1 second' FROM clock
    ON CONFLICT (key) DO UPDATE SET
        spent = CASE WHEN b.until <= (SELECT now FROM clock) THEN 1 ELSE b.spent + 1 END,
        until = CASE WHEN b.until <= (SELECT now FROM clock) THEN EXCLUDED.until ELSE b.until END
    WHERE b.until <= (SELECT now FROM clock) OR b.spent < %(most)s
    RETURNING 1
)
SELECT CASE WHEN EXISTS (SELECT FROM passed) THEN 0 ELSE greatest(1, coalesce(
    (SELECT ledger_ms(b.until) - ledger_ms(k.now) FROM ledger_bucket AS b, clock AS k WHERE b.key = %(key)s), 1
)) END;
