-- An hour in which 60 %% of the cells changed, as 1 %% a minute does: offsets that are not 0, sums as they were.
UPDATE ledger_opencell SET a_productive = a_productive - 1000, a_idle = a_idle + 1000
WHERE cluster_id = %(cluster)s AND g_productive > 0 AND run_id %% 5 < 3;
