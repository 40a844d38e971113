-- What runs had to reach by their logs and did or did not, of those whose measurement was frozen within a day.
SELECT o.name, r.name, r.uid, t ->> 'figure', t ->> 'outcome' = 'pass'
FROM ledger_measurement AS m
JOIN ledger_run AS r ON r.id = m.run_id
JOIN ledger_workspace AS o ON o.id = r.workspace_id
CROSS JOIN LATERAL jsonb_array_elements(m.frozen::jsonb -> 'thresholds') AS t
WHERE r.workspace_id = ANY (%(workspaces)s::bigint[]) AND m.frozen_at > ledger_at(%(since)s) AND m.thresholds <> '{}'
  AND t ->> 'outcome' IN ('pass', 'fail')
ORDER BY m.frozen_at DESC, r.id, t ->> 'figure'
LIMIT %(limit)s;
