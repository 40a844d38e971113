-- The offsets of the next hour begin at 0; cells in which nothing changed within the hour have none.
UPDATE ledger_opencell SET
    a_productive = 0, a_idle = 0, a_stalled = 0, a_starting = 0, a_restart = 0, a_failure = 0, a_preemption = 0, a_waiting = 0, a_unobserved = 0, a_unobserved_productive = 0
WHERE cluster_id = %(cluster)s
  AND (a_productive <> 0 OR a_idle <> 0 OR a_stalled <> 0 OR a_starting <> 0 OR a_restart <> 0 OR a_failure <> 0 OR a_preemption <> 0 OR a_waiting <> 0 OR a_unobserved <> 0 OR a_unobserved_productive <> 0);
