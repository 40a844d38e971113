-- The least that looking at every worker can cost.
SELECT count(*) FROM ledger_worker;
