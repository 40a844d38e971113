-- Up to where every cluster is counted, and when it was last categorized.
SELECT min(counted_until), min(categorized_at) FROM ledger_cluster;
