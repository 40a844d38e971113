-- A dated setting, in force from a whole hour that is still ahead.
INSERT INTO ledger_clusterrule (cluster_id, since, unmeasured_as, readings_expected)
VALUES (%(cluster)s, ledger_at(%(since)s), %(unmeasured_as)s, %(readings_expected)s)
ON CONFLICT (cluster_id, since) DO UPDATE SET
    unmeasured_as = EXCLUDED.unmeasured_as, readings_expected = EXCLUDED.readings_expected;
