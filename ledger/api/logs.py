"""Log goodput of a run: its measurement, and the lines of its logs."""

from time import monotonic
from typing import Any

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Struct
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import queries
from ledger.api import schema_logs as schema
from ledger.api.authentication import scope_of
from ledger.api.base import ApiView
from ledger.api.bodies import body_of
from ledger.api.goodput import Ledgers
from ledger.api.problems import Problem
from ledger.api.reading import known
from ledger.api.runs import run_of
from ledger.decode import BadBody, refuse_twice, values
from ledger.logs.thresholds import BadThreshold
from ledger.measuring.answers import answer
from ledger.measuring.begin import SAMPLE_SECONDS_MAX, Conflict, Wish, begin
from ledger.measuring.delivery import deliver, first_worker
from ledger.measuring.windows import BadWindow, Window

BUDGET_SECONDS = 5
LINE_NUMBER_MAX = 2**53
WRITING = frozenset({"POST", "PUT", "DELETE"})


class LogLines(Struct, forbid_unknown_fields=True):
    """A window of a worker's log. `first`: the number of its first line, counted from 0."""

    lines: list[str] | str
    attempt: int = 1
    worker: str = ""
    first: int | None = None
    profile: str | None = None
    seen_at: str | None = None
    dropped: int = 0


class WishBody(Struct, forbid_unknown_fields=True):
    """What is asked of a measurement."""

    logProfileRef: str | dict[str, Any] | None = None  # noqa: N815  # the words of the resource
    sampleInterval: int | None = None  # noqa: N815
    thresholds: dict[str, Any] | None = None


class RunMeasurement(Ledgers):
    """Answers with a run's log goodput; begins or changes its measurement."""

    http_method_names = ["get", "head", "put"]

    @property
    def scopes(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({"ingest", "admin"}) if self.request.method in WRITING else frozenset({"read"})

    @extend_schema(**schema.MEASUREMENT)
    def get(self, request: Request, run: str) -> Response:
        found = run_of(scope_of(request), run)
        known(request.GET, ())
        return measured(found.id)

    @extend_schema(**schema.MEASURE)
    def put(self, request: Request, run: str) -> Response:
        found = run_of(scope_of(request), run)
        known(request.GET, ())
        try:
            begin(found.id, wish_of(decoded(request, WishBody)))
        except (BadThreshold, LookupError) as error:
            raise Problem(400, f"{error.args[0]}") from None
        except Conflict as error:
            raise Problem(409, f"{error}") from None
        return measured(found.id)


class RunLogs(ApiView):
    """Takes lines of a run's logs."""

    scopes = frozenset({"ingest"})
    throttle = "ingest"

    @extend_schema(**schema.LOGS)
    def post(self, request: Request, run: str) -> Response:
        found = run_of(scope_of(request), run)
        known(request.GET, ())
        body = decoded(request, LogLines)
        window, profile, seen_at = window_of(body, found.id)
        end = monotonic() + BUDGET_SECONDS
        try:
            taken = deliver(
                found.id, found.uid, found.cluster, window, profile, seen_at, queries.now(),
                lambda: monotonic() > end,
            )  # fmt: skip
        except Conflict as error:
            raise Problem(409, f"{error}") from None
        except BadWindow as error:
            raise Problem(400, f"{error}") from None
        said = {"read": taken.read, "again": taken.again, "left": taken.left, "events": taken.events}
        return Response(said | {"frozen": taken.frozen}, 202)


def measured(run: int) -> Response:
    """Return the answer as it is kept. Raises Problem when there is none."""
    found = answer(run, queries.now())
    if found is None:
        raise Problem(404, "This run has no measurement: name a log profile (PUT), or ship its log with one.")
    return Response(found.text.encode())


def decoded(request: Request, kind: type[Any]) -> Any:
    """Return the JSON body as that type. Raises BadBody."""
    body = body_of(request._request)
    try:
        read = msgspec.json.decode(body, type=kind)
        refuse_twice(body)
        return read
    except msgspec.ValidationError as error:
        raise BadBody(400, f"The body is not of the right shape: {error}.") from None
    except (ValueError, RecursionError):
        raise BadBody(400, "The body is not JSON.") from None


def window_of(body: LogLines, run: int) -> tuple[Window, str | None, int | None]:
    """Return the window, the profile that it names, and until when its process was seen. Raises BadBody."""
    field = "attempt"
    try:
        attempt = values.attempt(body.attempt)
        field = "worker"
        worker = values.name(body.worker) if body.worker else first_worker(run)
        field = "profile"
        profile = values.name(body.profile) if body.profile else None
        field = "seen_at"
        seen_at = None if body.seen_at is None else values.instant(body.seen_at)
        field = "first"
        counted(body.first or 0)
        field = "dropped"
        counted(body.dropped)
    except ValueError as error:
        raise BadBody(400, f"{field} {error}.") from None
    return Window(attempt, worker, split(body.lines), body.first, body.dropped), profile, seen_at


def counted(value: int) -> None:
    """Raises ValueError for what is no number of lines."""
    if not 0 <= value <= LINE_NUMBER_MAX:
        raise ValueError("must be a number of lines, from 0 on")


def split(lines: list[str] | str) -> list[bytes]:
    """Return the lines as bytes; one text is split at its line feeds."""
    if isinstance(lines, str):
        return lines.removesuffix("\n").encode("utf-8", "replace").split(b"\n") if lines else []
    return [line.replace("\n", "\r").encode("utf-8", "replace") for line in lines]


def wish_of(body: WishBody) -> Wish:
    """Raises BadBody."""
    ref = body.logProfileRef
    name = ref.get("name") if isinstance(ref, dict) else ref
    try:
        profile = None if name is None else values.name(name) if isinstance(name, str) else values.name("")
    except ValueError as error:
        raise BadBody(400, f"logProfileRef {error}.") from None
    seconds = body.sampleInterval
    if seconds is not None and not 1 <= seconds <= SAMPLE_SECONDS_MAX:
        raise BadBody(400, f"sampleInterval must be 1 to {SAMPLE_SECONDS_MAX:,} seconds.")
    return Wish(profile, seconds, body.thresholds)
