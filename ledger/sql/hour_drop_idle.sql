-- Cells in which nothing accrues any more have said all they had to say.
DELETE FROM ledger_opencell
WHERE cluster_id = %(cluster)s
  AND g_productive = 0 AND g_idle = 0 AND g_stalled = 0 AND g_starting = 0 AND g_restart = 0 AND g_failure = 0 AND g_preemption = 0 AND g_waiting = 0 AND g_unobserved = 0 AND g_unobserved_productive = 0;
