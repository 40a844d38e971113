"""The client of a Goodput ledger: runs where the GPUs are, speaks only the HTTP interface.

Importing it needs the standard library alone: the tracker and the reporter for training code. What needs more
(`astra.api`, the `astra` command, the agents) is imported by name.
"""

from astra.reporter import GoodputReporter
from astra.tracker import GoodputMetrics, GoodputTracker

__version__ = "0.1.0"
__all__ = ["GoodputMetrics", "GoodputReporter", "GoodputTracker", "__version__"]
