-- Facts of lists before the edge that can end nothing any more, for a state follows them.
DELETE FROM ledger_gone WHERE ctid = ANY (ARRAY(
    SELECT g.ctid FROM unnest(%(workers)s::bigint[]) AS w (id)
    JOIN ledger_gone AS g ON g.worker_id = w.id AND g.at < ledger_at(%(edge)s)
    WHERE g.at < (SELECT max(s.at) FROM ledger_state AS s WHERE s.worker_id = w.id AND s.at < ledger_at(%(edge)s))
    ORDER BY g.worker_id, g.at LIMIT %(limit)s FOR UPDATE OF g SKIP LOCKED
));
