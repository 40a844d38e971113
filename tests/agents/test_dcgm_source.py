"""Readings from exporters and from a Prometheus, each sample once and with its own instant; the command."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

from astra.cli import run
from astra.collect.dcgm.reading import Exporters, Prometheus, with_path
from astra.collect.dcgm.source import Dcgm
from astra.collect.dcgm.whose import Holder, Holders
from astra.collect.items import Items
from astra.collect.source import SourceError

PAGE = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="U0",Hostname="m",namespace="n",pod="a"} 42\n'
HELD = Holders([Holder("r", "w", "m", 1.0, "n/a", frozenset())])


@contextmanager
def serving(answers: dict[str, Any]) -> Iterator[str]:
    """Serve by path: a text, a status, or a function of the form that was posted."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
            said = answers.get(self.path.partition("?")[0], 404)
            said = said(form) if callable(said) else said
            self.send_response(said if isinstance(said, int) else 200)
            self.end_headers()
            if isinstance(said, str):
                self.wfile.write(said.encode())

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_exporters_that_are_away_leave_the_others_as_they_are() -> None:
    with serving({"/metrics": PAGE, "/broken": 500}) as address:
        reader = Exporters([address, f"{address}/broken", "http://127.0.0.1:1/metrics"])
        assert [sample.value for sample in reader.read()] == [42.0]
        assert sorted(reader.troubles) == sorted([f"{address}/broken", "http://127.0.0.1:1/metrics"])
        with pytest.raises(SourceError, match="answers 500"):
            Exporters([f"{address}/broken"]).read()


def test_a_name_that_stands_for_many() -> None:
    with serving({"/metrics": PAGE}) as address:
        assert [sample.value for sample in Exporters([], [address]).read()] == [42.0]
    with pytest.raises(SourceError, match="stands for no exporter"):
        Exporters([], ["http://no.such.host.invalid:9400"]).read()


def test_the_address_of_a_page() -> None:
    assert with_path("http://a:9400") == "http://a:9400/metrics"
    assert with_path("http://a:9400/other") == "http://a:9400/other"


def prometheus(values: list[tuple[float, str]]) -> dict[str, Any]:
    labels = {"gpu": "0", "UUID": "U0", "Hostname": "m", "exported_pod": "a", "exported_namespace": "n", "pod": "x"}

    def answer(form: dict[str, list[str]]) -> str:
        found = [{"metric": labels, "values": values}] if form["query"][0].startswith("DCGM_FI_DEV_GPU_UTIL") else []
        return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": found}})

    return {"/api/v1/query": answer}


def test_each_sample_of_a_prometheus_once_with_its_own_instant() -> None:
    began = round(time.time()) - 40.25
    values = [(began, "10"), (began + 15, "20")]
    with serving(prometheus(values)) as address:
        source = Dcgm("dcgm/east", Prometheus(address), lambda: HELD)
        first = source.look()
        values.append((began + 30, "NaN"))
        values.append((began + 37, "30"))
        second = source.look()
        assert source.look().readings == ()
    assert [(one["worker"], one["gpu_busy"]) for one in (*first.readings, *second.readings)] == [
        ("w", 10.0), ("w", 20.0), ("w", 30.0),
    ]  # fmt: skip
    assert str(first.readings[0]["at"]).endswith(".750Z")


def test_what_is_no_prometheus_is_said() -> None:
    with serving({"/api/v1/query": "hello"}) as address, pytest.raises(SourceError, match="it is no Prometheus"):
        Prometheus(address).read()
    failed = '{"status":"error","error":"parse error"}'
    with serving({"/api/v1/query": failed}) as address, pytest.raises(SourceError, match="parse error"):
        Prometheus(address, 'cluster="east"').read()
    with pytest.raises(SourceError, match="No answer from Prometheus"):
        Prometheus("http://127.0.0.1:1").read()


def test_it_gives_no_word_while_nothing_can_be_read() -> None:
    answers: dict[str, Any] = {"/metrics": 503}
    stop, said = threading.Event(), list[Items]()
    with serving(answers) as address:
        source = Dcgm("dcgm/east", Exporters([address]), lambda: HELD, interval=0.02)

        def put(items: Items) -> None:
            said.append(items)
            stop.set()

        thread = threading.Thread(target=source.run, args=(put, stop))
        thread.start()
        until = time.monotonic() + 60
        while source.seeing and time.monotonic() < until:
            stop.wait(0.01)
        assert not source.seeing
        assert said == []
        answers["/metrics"] = PAGE
        assert stop.wait(60)
        thread.join()
    assert said[0].readings[0]["gpu_busy"] == 42.0
    assert source.seeing


def test_where_gpus_are_read_must_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "dcgm", "--cluster", "east", "--api", "http://x", "--token", "t"]) == 2
    assert "Say where GPUs are read" in capsys.readouterr().err
