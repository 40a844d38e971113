"""The examples run: the plain loop as it is, the others on stand-ins that have the interface they use of the libraries.

The stand-ins are here because the libraries are large; they have no more than what the examples touch.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from astra import GoodputReporter
from tests.client.reports import TOKEN, Ledger, ledger

EXAMPLES = Path(__file__).parents[2] / "client/examples"


@pytest.fixture
def east(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    with ledger() as east:
        for name, value in {"API": east.address, "TOKEN": TOKEN, "RUN": "r1", "SPOOL": str(tmp_path)}.items():
            monkeypatch.setenv(f"ASTRALYX_{name}", value)
        yield east


def example(name: str, monkeypatch: pytest.MonkeyPatch, **modules: Any) -> Any:
    """Import an example beside stand-ins, by the names of their modules with _ for a dot."""
    for module, stand_in in modules.items():
        monkeypatch.setitem(sys.modules, module.replace("_", "."), stand_in)
    found = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    loaded = importlib.util.module_from_spec(found)
    found.loader.exec_module(loaded)
    return loaded


def module(name: str, **attributes: Any) -> Any:
    made = types.ModuleType(name)
    made.__dict__.update(attributes)
    return made


def test_the_plain_loop_as_a_process(east: Ledger) -> None:
    env = {**os.environ, "ASTRALYX_WORKER": "w0", "PYTHONPATH": str(EXAMPLES.parent)}
    done = subprocess.run([sys.executable, EXAMPLES / "plain_loop.py"], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "total_batches=200" in done.stdout
    assert east.reports[-1]["step"] == 199
    assert sum(report.get("batches", 0) for report in east.reports) == 200
    assert "checkpoint" in {report.get("doing") for report in east.reports}


class Tensor:
    """As much of a tensor as the loop touches."""

    device = "cpu"

    def to(self, _: str) -> Tensor:
        return self

    def backward(self) -> None: ...


class Optimizer:
    def __init__(self, *_: Any, **__: Any) -> None: ...

    def zero_grad(self) -> None: ...

    def step(self) -> None: ...


def test_the_pytorch_loop_on_a_stand_in(east: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[str] = []
    functional = types.SimpleNamespace(mse_loss=lambda *_: Tensor())
    nn = module("torch.nn", functional=functional, Module=object)
    optim = types.SimpleNamespace(SGD=Optimizer)
    torch = module("torch", nn=nn, optim=optim, save=lambda _, name: saved.append(name))
    monkeypatch.setenv("RANK", "0")

    class Model:
        def parameters(self) -> list[Tensor]:
            return [Tensor()]

        def state_dict(self) -> dict[str, Any]:
            return {}

        def __call__(self, _: Tensor) -> Tensor:
            return Tensor()

    loop = example("pytorch_loop", monkeypatch, torch=torch, torch_nn=nn)
    tracker = loop.train(Model(), [(Tensor(), Tensor())] * 6, 6, save_every=3)
    assert (tracker.summary().total_batches, saved) == (6, ["checkpoint.pt"] * 2)
    assert (east.reports[-1]["worker"], east.reports[-1]["step"]) == ("worker-0", 5)


def test_the_lightning_callback_on_a_stand_in(east: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    callbacks = module("lightning.pytorch.callbacks", Callback=object)
    found = example(
        "lightning_callback",
        monkeypatch,
        lightning=module("lightning"),
        lightning_pytorch=module("lightning.pytorch"),
        lightning_pytorch_callbacks=callbacks,
    )
    with GoodputReporter(worker="w0") as reporter:
        callback = found.GoodputCallback(reporter)
        trainer = types.SimpleNamespace(global_step=0)
        for step in range(1, 4):
            callback.on_train_batch_start(trainer, None, step)
            trainer.global_step = step
            callback.on_train_batch_end(trainer, None, None, None, step)
        callback.on_validation_start(trainer, None)
        reporter.flush()
        assert (east.reports[-1]["step"], east.reports[-1]["doing"]) == (3, "evaluation")
        callback.on_validation_end(trainer, None)
        callback.teardown(trainer, None, stage="fit")
        assert "doing" not in east.reports[-1]


def test_the_hf_trainer_callback_on_a_stand_in(east: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = module("transformers", TrainerCallback=object)
    found = example("hf_trainer_callback", monkeypatch, transformers=transformers)
    reporter = GoodputReporter(worker="w0")
    callback = found.GoodputCallback(reporter)
    for step, evaluates, saves in ((1, False, False), (2, True, False), (3, False, True)):
        control = types.SimpleNamespace(should_evaluate=evaluates, should_save=saves)
        callback.on_step_begin(None, types.SimpleNamespace(global_step=step - 1), control)
        callback.on_step_end(None, types.SimpleNamespace(global_step=step), control)
        reporter.flush()
    callback.on_save(None, None, control)
    callback.on_train_end(None, None, control)
    told = [(report["step"], report.get("doing")) for report in east.reports]
    assert [one for place, one in enumerate(told) if one not in told[:place]][-4:] == [
        (1, None),
        (2, "evaluation"),
        (3, "checkpoint"),
        (3, None),
    ]


def test_the_jax_loop_on_a_stand_in(east: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    jax = module(
        "jax",
        jit=lambda of: of,
        device_put=lambda value: value,
        block_until_ready=lambda value: value,
        process_index=lambda: 2,
    )
    loop = example("jax_loop", monkeypatch, jax=jax)
    state, tracker = loop.train(lambda state, batch: state + batch, 0, [1] * 8, 8, evaluate_every=4)
    assert (state, tracker.summary().total_batches) == (8, 8)
    assert (east.reports[-1]["worker"], east.reports[-1]["step"]) == ("worker-2", 7)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_written_for_python_3_9(path: Path) -> None:
    with contextlib.suppress(SystemExit):
        compile(path.read_text(), str(path), "exec", dont_inherit=True)
    assert "from __future__ import annotations\n" in path.read_text()
