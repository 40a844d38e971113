-- Whose the open cells are that were there before they said so.
UPDATE ledger_opencell AS c SET workspace_id = r.workspace_id FROM ledger_run AS r WHERE r.id = c.run_id;
