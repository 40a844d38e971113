"""Agents: what runs beside the GPUs, watches a source, and tells a Goodput ledger what it sees."""
