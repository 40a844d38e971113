-- The rows of lists whose fact is stored.
UPDATE ledger_listing SET stored = true WHERE source_id = %(source)s AND worker_id = ANY (%(workers)s::bigint[]);
