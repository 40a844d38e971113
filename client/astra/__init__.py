"""The client of a Goodput ledger: runs where the GPUs are, speaks only the HTTP interface.

Importing it needs the standard library alone; what needs more (`astra.api`, the `astra` command) is imported by name.
"""

__version__ = "0.1.0"
