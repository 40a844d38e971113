"""A callback for Lightning: Trainer(callbacks=[GoodputCallback(GoodputReporter())])."""

from __future__ import annotations

import time
from typing import Any

from lightning.pytorch.callbacks import Callback

from astra import GoodputReporter


class GoodputCallback(Callback):
    """Tells each step with how long it took, and when Lightning validates or saves."""

    def __init__(self, reporter: GoodputReporter) -> None:
        self.reporter = reporter
        self._began = 0.0
        self._phase: Any = None

    def on_train_batch_start(self, trainer: Any, *_: Any) -> None:
        self._began = time.perf_counter()

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        self.reporter.progress(trainer.global_step, time.perf_counter() - self._began)

    def on_validation_start(self, *_: Any) -> None:
        self._phase = self.reporter.phase("evaluation")
        self._phase.__enter__()

    def on_validation_end(self, *_: Any) -> None:
        self._leave()

    def on_exception(self, *_: Any) -> None:
        self._leave()

    def teardown(self, *_: Any, **__: Any) -> None:
        self._leave()
        self.reporter.flush()

    def _leave(self) -> None:
        phase, self._phase = self._phase, None
        if phase is not None:
            phase.__exit__(None, None, None)
