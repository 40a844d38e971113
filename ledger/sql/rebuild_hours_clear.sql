-- Closed cells of runs, to be made again from the spans.
DELETE FROM ledger_hour WHERE cluster_id = %(cluster)s AND run_id = ANY (%(runs)s::bigint[]);
