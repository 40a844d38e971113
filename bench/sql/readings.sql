-- What the minute's readings of the fleet leave in the workers' rows, in one statement and untimed: a stand-in, so that
-- the table is as worn as it would be. Slices before the minute have fallen silent.
UPDATE ledger_worker SET
    busy_at = %(at)s, step_at = %(at)s, step = step + 1,
    progress_at = %(at)s, covered_to = %(at)s::timestamptz + interval '5 minutes', told_to = %(at)s
WHERE cluster_id = %(cluster)s AND phase = 3 AND (id - %(first)s) %% 100 + 1 >= %(minute)s;
