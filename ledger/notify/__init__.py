"""Telling people of alerts: an outbox that survives a crash, and a file for each way to tell."""
