-- Capacities reported before the edge, but the last of each machine, which holds until the next report.
DELETE FROM ledger_capacity WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM ledger_machine AS m JOIN ledger_capacity AS c ON c.machine_id = m.id
    WHERE m.cluster_id = %(cluster)s AND c.hour < ledger_at(%(edge)s) AND EXISTS (
        SELECT FROM ledger_capacity AS l
        WHERE l.machine_id = m.id AND l.hour > c.hour AND l.hour < ledger_at(%(edge)s)
    )
    ORDER BY c.machine_id, c.hour LIMIT %(limit)s FOR UPDATE OF c SKIP LOCKED
));
