-- The newest word of a source.
UPDATE ledger_source SET word_at = greatest(word_at, ledger_at(%(at)s)) WHERE id = %(source)s;
