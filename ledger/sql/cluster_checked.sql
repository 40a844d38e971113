-- Up to where words that ran out and dated settings have been looked at; never back.
UPDATE ledger_cluster SET checked_to = ledger_at(%(now)s)
WHERE id = %(cluster)s AND checked_to < ledger_at(%(now)s);
