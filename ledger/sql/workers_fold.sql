-- What is folded of workers at this count, and when time alone changes them next.
UPDATE ledger_worker AS w SET phase = n.phase, stay_since = ledger_at(n.stay_since), due = ledger_at(n.due),
    watched = n.watched
FROM unnest(%(workers)s::bigint[], %(phases)s::smallint[], %(stays)s::bigint[], %(due)s::bigint[],
    %(watched)s::boolean[])
    AS n (id, phase, stay_since, due, watched)
WHERE w.id = n.id;
