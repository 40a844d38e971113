-- Runs in which a worker was proven stalled by its steps: from now on their gangs are counted together.
UPDATE ledger_run SET has_stalls = true WHERE id = ANY (%(runs)s::bigint[]) AND NOT has_stalls;
