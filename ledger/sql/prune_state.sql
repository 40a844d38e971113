-- How far a cluster is pruned: (its edge, up to where what stood before it is removed), ms; null: never.
SELECT ledger_ms(kept_from), ledger_ms(pruned_to) FROM ledger_cluster WHERE id = %(cluster)s;
