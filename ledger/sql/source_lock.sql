-- A source, locked; its instants in ms.
SELECT id, ledger_ms(word_at), ledger_ms(list_at), ledger_ms(held_since), confirmed
FROM ledger_source WHERE cluster_id = %(cluster)s AND name = %(name)s
FOR NO KEY UPDATE;
