"""Log goodput of runs: profiles kept, windows of lines taken, measurements answered and frozen."""
