"""A callback for the Trainer of Hugging Face: Trainer(..., callbacks=[GoodputCallback(GoodputReporter())])."""

from __future__ import annotations

import time
from typing import Any

from transformers import TrainerCallback

from astra import GoodputReporter


class GoodputCallback(TrainerCallback):
    """Tells each optimizer step with how long it took, and evaluations and saves.

    The Trainer calls back only after those, but says at the end of a step that it is about to.
    """

    def __init__(self, reporter: GoodputReporter) -> None:
        self.reporter = reporter
        self._began = 0.0
        self._phase: Any = None

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._leave()
        self._began = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.reporter.progress(state.global_step, time.perf_counter() - self._began)
        if control.should_evaluate or control.should_save:
            self._phase = self.reporter.phase("evaluation" if control.should_evaluate else "checkpoint")
            self._phase.__enter__()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._leave()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._leave()
        self.reporter.close()

    def _leave(self) -> None:
        phase, self._phase = self._phase, None
        if phase is not None:
            phase.__exit__(None, None, None)
