"""A PyTorch loop, one process a GPU (torchrun): every rank reports its own steps and its own input pipeline.

ASTRALYX_WORKER is set here from the rank; the names must be those under which the cluster's agent knows the workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from astra import GoodputReporter, GoodputTracker


def train(model: nn.Module, loader: Iterable[Any], steps: int, save_every: int = 100) -> GoodputTracker:
    tracker = GoodputTracker()
    reporter = GoodputReporter(worker=f"worker-{os.environ.get('RANK', '0')}", tracker=tracker)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    device = next(iter(model.parameters())).device
    batches = iter(loader)
    for step in range(steps):
        tracker.start_batch()
        with tracker.time_source():  # the wait for the loader: what its workers read ahead costs nothing here
            inputs, targets = next(batches)
        with tracker.time_transfer():
            inputs, targets = inputs.to(device), targets.to(device)
        tracker.end_batch()
        with reporter.step(step):
            loss = nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            # Under DistributedDataParallel the ranks wait for each other in backward(). To compare ranks, time what
            # is theirs alone: `with reporter.waiting():` around collectives that your own code calls.
            optimizer.step()
        if step % save_every == save_every - 1:
            with reporter.phase("checkpoint"):  # on every rank, as all wait for the one that writes
                if os.environ.get("RANK", "0") == "0":
                    torch.save(model.state_dict(), "checkpoint.pt")
    reporter.close()
    return tracker
