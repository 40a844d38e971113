-- Workers that live now and whose latest phase a source told.
SELECT worker_id FROM ledger_span WHERE source_id = %(source)s AND until IS NULL ORDER BY worker_id;
