-- What was told of readiness before the edge, but the last of each machine, which holds until the next row.
DELETE FROM ledger_readiness WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM ledger_machine AS m JOIN ledger_readiness AS c ON c.machine_id = m.id
    WHERE m.cluster_id = %(cluster)s AND c.at < ledger_at(%(edge)s) AND EXISTS (
        SELECT FROM ledger_readiness AS l
        WHERE l.machine_id = m.id AND l.at > c.at AND l.at < ledger_at(%(edge)s)
    )
    ORDER BY c.machine_id, c.at LIMIT %(limit)s FOR UPDATE OF c SKIP LOCKED
));
