-- The newest of the workers' streams; every column is one that no index has, so a row stays in its page.
UPDATE ledger_worker AS w SET
    busy_at = ledger_at(n.busy_at), busy = n.busy, step_at = ledger_at(n.step_at), step = n.step,
    step_ms = n.step_ms, progress_at = ledger_at(n.progress_at), proven = n.proven,
    covered_from = ledger_at(n.covered_from), covered_to = ledger_at(n.covered_to),
    told_from = ledger_at(n.told_from), told_to = ledger_at(n.told_to),
    doing = n.doing, recent = n.recent::integer[]
FROM unnest(
    %(workers)s::bigint[], %(busy_at)s::bigint[], %(busy)s::boolean[], %(step_at)s::bigint[],
    %(step)s::bigint[], %(step_ms)s::bigint[], %(progress_at)s::bigint[], %(proven)s::boolean[],
    %(covered_from)s::bigint[], %(covered_to)s::bigint[], %(told_from)s::bigint[], %(told_to)s::bigint[],
    %(doing)s::smallint[], %(recent)s::text[]
) AS n (
    id, busy_at, busy, step_at, step, step_ms, progress_at, proven, covered_from, covered_to, told_from, told_to,
    doing, recent
)
WHERE w.id = n.id;
