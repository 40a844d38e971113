-- The last complete list that counted, and since when lists are put aside.
UPDATE ledger_source SET
    list_at = ledger_at(%(list_at)s), held_since = ledger_at(%(held_since)s), confirmed = %(confirmed)s
WHERE id = %(source)s;
