-- Up to where the running day is rolled up: the last of 0, 3, 6, … o'clock UTC that is an hour ago or more, for most of what
-- comes late comes within it. The same is told by ledger.core.windows.rolled_to.
CREATE FUNCTION ledger_rolled_to(open_hour timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN greatest(
    date_bin('24 hours', open_hour, '2000-01-01 00:00:00+00'),
    date_bin('3 hours', open_hour - interval '1 hour', '2000-01-01 00:00:00+00')
);

INSERT INTO ledger_dirtyday (cluster_id, day)
SELECT id, date_trunc('day', open_hour, 'UTC') FROM ledger_cluster
WHERE ledger_rolled_to(open_hour) > date_trunc('day', open_hour, 'UTC')
ON CONFLICT DO NOTHING;
