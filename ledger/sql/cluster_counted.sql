-- Up to where a cluster is counted, and which hours are final by now; never back.
UPDATE ledger_cluster SET
    categorized_at = greatest(categorized_at, ledger_at(%(now)s)),
    counted_until = greatest(counted_until, least(ledger_at(%(began)s), open_hour + interval '1 hour')),
    final_to = greatest(final_to, least(ledger_at(%(final_to)s), open_hour))
WHERE id = %(cluster)s
RETURNING ledger_ms(counted_until);
