-- One set-based statement a minute: every worker's amount since it was counted, added to its cell of the hour.
WITH counted AS (
    UPDATE each_worker SET counted_at = %(now)s
    WHERE counted_at < %(now)s AND category < 8
    RETURNING run_id, machine_id, pool_id, category, gpus_milli * (%(now)s - OLD.counted_at) AS amount
)
INSERT INTO each_cell AS c (hour, run_id, machine_id, pool_id, category, amount)
SELECT %(hour)s, run_id, machine_id, pool_id, category, sum(amount)
FROM counted
GROUP BY run_id, machine_id, pool_id, category
ON CONFLICT (hour, run_id, machine_id, pool_id, category) DO UPDATE SET amount = c.amount + EXCLUDED.amount;
