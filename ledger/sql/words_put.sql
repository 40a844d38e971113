-- A range that a source's words cover.
INSERT INTO ledger_word (source_id, lower, upper) VALUES (%(source)s, ledger_at(%(lower)s), ledger_at(%(upper)s));
