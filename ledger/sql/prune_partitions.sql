-- Partitions of closed hours that end before the edge of every cluster.
SELECT c.relname
FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
WHERE i.inhparent = 'ledger_hour'::regclass AND c.relname ~ '^ledger_hour_\d{4}_\d{2}$'
  AND (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC'
    <= (SELECT min(coalesce(kept_from, '-infinity')) FROM ledger_cluster)
ORDER BY c.relname;
