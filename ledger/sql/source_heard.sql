-- The newest word of a source, and the newest instant at which it was counted.
UPDATE ledger_source SET
    word_at = greatest(word_at, ledger_at(%(at)s)), heard_at = greatest(heard_at, ledger_at(%(now)s))
WHERE id = %(source)s;
