-- Drops a partition of closed hours, unless another session has; waits at most three seconds for those that read or post.
SELECT set_config('lock_timeout', '3s', true), ledger_drop_partition(%(partition)s);
