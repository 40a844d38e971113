"""The client of a Goodput ledger: runs where the GPUs are, speaks only the HTTP interface."""

__version__ = "0.1.0"
