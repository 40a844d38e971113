-- What was spent on a machine, and what went wrong on one or in a pool, without reading all hours or all spans.
CREATE INDEX ledger_hour_machine ON ledger_hour (machine_id, hour) WHERE machine_id > 1;
CREATE INDEX span_trouble_machine ON ledger_span (machine_id, since) WHERE machine_id > 1 AND category IN (2, 4, 5, 6);
CREATE INDEX span_trouble_pool ON ledger_span (pool_id, since) WHERE machine_id > 1 AND category IN (2, 4, 5, 6);
