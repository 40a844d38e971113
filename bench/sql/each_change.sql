-- Workers that changed at an instant: what they were until then is added, and what they are is written.
WITH changed AS (
    UPDATE each_worker AS w SET counted_at = %(at)s, category = n.category, machine_id = coalesce(n.machine_id, w.machine_id)
    FROM unnest(%(workers)s::bigint[], %(categories)s::smallint[], %(machines)s::bigint[]) AS n (id, category, machine_id)
    WHERE w.id = n.id
    RETURNING w.run_id, OLD.machine_id, w.pool_id, OLD.category, w.gpus_milli * (%(at)s - OLD.counted_at) AS amount
)
INSERT INTO each_cell AS c (hour, run_id, machine_id, pool_id, category, amount)
SELECT %(hour)s, run_id, machine_id, pool_id, category, sum(amount)
FROM changed
GROUP BY run_id, machine_id, pool_id, category
ON CONFLICT (hour, run_id, machine_id, pool_id, category) DO UPDATE SET amount = c.amount + EXCLUDED.amount;
