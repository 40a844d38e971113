-- Workers that are no stragglers any more: what was one for long enough is kept, what was not never was one.
WITH brief AS (
    DELETE FROM ledger_straggle
    WHERE worker_id = ANY (%(workers)s::bigint[]) AND until IS NULL AND NOT confirmed
)
UPDATE ledger_straggle SET until = ledger_at(%(now)s)
WHERE worker_id = ANY (%(workers)s::bigint[]) AND until IS NULL AND confirmed;
