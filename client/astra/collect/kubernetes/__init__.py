"""The Kubernetes agent: watches a cluster's pods, nodes and training jobs, and says what becomes of their GPUs.

`mapping` and what it needs are pure: objects in, observations out. `watching` and `agent` talk to the API server.
"""
