-- A delivery was taken by the other side.
UPDATE ledger_delivery SET sent_at = clock_timestamp(), leased_until = NULL, error = ''
WHERE id = %(delivery)s AND sent_at IS NULL;
