-- An attempt failed: it is due again after some time, or given up; not when another attempt has begun since.
UPDATE ledger_delivery SET
    leased_until = NULL, error = %(error)s,
    due_at = clock_timestamp() + %(wait)s * interval '1 second',
    dead_at = CASE WHEN %(dead)s THEN clock_timestamp() END
WHERE id = %(delivery)s AND attempts = %(attempt)s AND sent_at IS NULL;
