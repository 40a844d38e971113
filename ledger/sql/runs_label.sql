-- Labels of runs as the source says them now; null = not said. They move no time.
UPDATE ledger_run AS r SET
    name = coalesce(n.name, r.name), kind = coalesce(n.kind, r.kind), "user" = coalesce(n."user", r."user"),
    submitted_at = coalesce(ledger_at(n.submitted_at), r.submitted_at),
    ended_at = coalesce(ledger_at(n.ended_at), r.ended_at),
    outcome = coalesce(n.outcome, r.outcome), min_goodput_milli = coalesce(n.min_goodput, r.min_goodput_milli),
    conditions = coalesce(n.conditions::jsonb, r.conditions)
FROM unnest(
    %(runs)s::bigint[], %(names)s::text[], %(kinds)s::text[], %(users)s::text[],
    %(submitted)s::bigint[], %(ended)s::bigint[], %(outcomes)s::text[], %(minima)s::integer[], %(conditions)s::text[]
) AS n (id, name, kind, "user", submitted_at, ended_at, outcome, min_goodput, conditions)
WHERE r.id = n.id
  AND (
    r.name, r.kind, r."user", r.submitted_at, r.ended_at, r.outcome, r.min_goodput_milli, r.conditions
  ) IS DISTINCT FROM (
    coalesce(n.name, r.name), coalesce(n.kind, r.kind), coalesce(n."user", r."user"),
    coalesce(ledger_at(n.submitted_at), r.submitted_at), coalesce(ledger_at(n.ended_at), r.ended_at),
    coalesce(n.outcome, r.outcome), coalesce(n.min_goodput, r.min_goodput_milli),
    coalesce(n.conditions::jsonb, r.conditions)
  );
