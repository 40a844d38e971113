-- Workers that a list lacks for the first time in this row; the list before it was the last that had them.
UPDATE ledger_listing SET missing_since = ledger_at(%(at)s), proof = ledger_at(%(proof)s), stored = false
WHERE source_id = %(source)s AND worker_id = ANY (%(workers)s::bigint[]);
