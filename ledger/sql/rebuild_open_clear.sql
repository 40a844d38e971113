-- The open cells of runs, to be made again from the spans.
DELETE FROM ledger_opencell WHERE cluster_id = %(cluster)s AND run_id = ANY (%(runs)s::bigint[]);
