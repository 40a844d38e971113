-- Workers whose time within a newly covered range was counted as unobserved.
SELECT DISTINCT worker_id FROM ledger_span
WHERE source_id = %(source)s AND unobserved
  AND since < ledger_at(%(upper)s) AND (until IS NULL OR until > ledger_at(%(lower)s));
