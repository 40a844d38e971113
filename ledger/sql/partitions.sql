-- Partitions are made ahead of the hours that need them.
SELECT ledger_make_partitions(ledger_at(%(lower)s), ledger_at(%(upper)s));
