"""Goodput from training logs: profiles, reading, terms, status. Pure: the standard library and RE2 alone.

Instants and durations are integers of microseconds; an instant is counted from 1970 in UTC.
"""
