-- The ranges of a source that touch a new word; they are joined with it.
DELETE FROM ledger_word
WHERE source_id = %(source)s AND lower <= ledger_at(%(upper)s) AND upper >= ledger_at(%(lower)s)
RETURNING ledger_ms(lower), ledger_ms(upper);
