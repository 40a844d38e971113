"""Slurm: its jobs as runs, the nodes of their allocations as workers."""
