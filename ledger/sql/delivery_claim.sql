-- Claims the delivery that has been due longest, for some time: id, and the attempt that this is. Where another attempt
-- is yet to succeed, all of that workspace comes after what is of others: who cannot be reached holds up nobody else.
UPDATE ledger_delivery SET leased_until = clock_timestamp() + %(lease)s * interval '1 second', attempts = attempts + 1
WHERE id = (
    SELECT d.id FROM ledger_delivery AS d JOIN ledger_channel AS c ON c.id = d.channel_id
    WHERE d.sent_at IS NULL AND d.dead_at IS NULL AND d.due_at <= clock_timestamp()
      AND (d.leased_until IS NULL OR d.leased_until <= clock_timestamp())
    ORDER BY c.workspace_id IN (
        SELECT oc.workspace_id FROM ledger_delivery AS o JOIN ledger_channel AS oc ON oc.id = o.channel_id
        WHERE o.sent_at IS NULL AND o.dead_at IS NULL AND o.attempts > 0
    ), d.due_at, d.id LIMIT 1 FOR UPDATE OF d SKIP LOCKED
)
RETURNING id, attempts;
