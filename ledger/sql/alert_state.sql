-- How far a cluster is judged, which hours are final, and the first hour of which all was counted, ms; then its three numbers.
SELECT
    ledger_ms(judged_to), ledger_ms(final_to),
    ledger_ms(least(first_hour, (SELECT min(hour) FROM ledger_hour WHERE cluster_id = k.id))),
    drop_below_milli_percent, drop_points_milli, drop_least_held_us
FROM ledger_cluster AS k WHERE id = %(cluster)s;
