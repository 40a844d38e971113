-- Claims the delivery that has been due longest, for some time: id, and the attempt that this is.
UPDATE ledger_delivery SET leased_until = clock_timestamp() + %(lease)s * interval '1 second', attempts = attempts + 1
WHERE id = (
    SELECT id FROM ledger_delivery
    WHERE sent_at IS NULL AND dead_at IS NULL AND due_at <= clock_timestamp()
      AND (leased_until IS NULL OR leased_until <= clock_timestamp())
    ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, attempts;
