"""Cluster traces and accounting dumps as observations: parsers, pure, from bytes to batches."""
