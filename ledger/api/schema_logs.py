"""The OpenAPI operations of log goodput."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from ledger.api.schema import number, problems
from ledger.api.shapes import reference

ORGANIZATION = OpenApiParameter("organization", str, description="Whose; needed by people of several organizations.")
YAML = "application/yaml"
RESOURCE = {"application/json": reference("LogProfileDocument"), YAML: reference("LogProfileDocument")}

MEASUREMENT: dict[str, Any] = {
    "operation_id": "measurement",
    "summary": "Log goodput of a run; once the run is over the same bytes for ever",
    "responses": {200: reference("GoodputMeasurement"), **problems(400, 404)},
}
MEASURE: dict[str, Any] = {
    "operation_id": "measure",
    "summary": "Begin a run's measurement, or say what it must reach",
    "request": {"application/json": reference("MeasurementWish")},
    "responses": {200: reference("GoodputMeasurement"), **problems(400, 404, 409, 413, 415)},
}
LOGS: dict[str, Any] = {
    "operation_id": "logs",
    "summary": "Send lines of a run's log; sending them again changes nothing",
    "request": {"application/json": reference("LogLines")},
    "responses": {202: reference("LogReceipt"), **problems(400, 404, 409, 413, 415)},
}
PROFILES: dict[str, Any] = {
    "operation_id": "logProfiles",
    "summary": "Log profiles, the built-in ones first",
    "responses": {200: reference("LogProfiles"), **problems(400)},
}
PROFILE_MAKE: dict[str, Any] = {
    "operation_id": "makeLogProfile",
    "summary": "Keep a log profile under the name it gives itself",
    "parameters": [ORGANIZATION],
    "request": RESOURCE,
    "responses": {201: reference("LogProfile"), **problems(400, 404, 413, 415)},
}
PROFILE: dict[str, Any] = {
    "operation_id": "logProfile",
    "summary": "A log profile, its newest version unless another is asked for",
    "parameters": [
        number("version", 0, 2**31 - 1, "Which version; 0 of a built-in one."),
        OpenApiParameter("format", str, enum=["json", "yaml"], default="json", description="yaml: the resource alone."),
    ],
    "responses": {
        (200, "application/json"): reference("LogProfile"),
        (200, YAML): {"type": "string"},
        **problems(400, 404),
    },
}
PROFILE_SAVE: dict[str, Any] = {
    "operation_id": "saveLogProfile",
    "summary": "Keep the next version of a log profile",
    "parameters": [ORGANIZATION],
    "request": RESOURCE,
    "responses": {200: reference("LogProfile"), **problems(400, 404, 413, 415)},
}
PROFILE_RETIRE: dict[str, Any] = {
    "operation_id": "retireLogProfile",
    "summary": "Take a log profile out of the list; measurements keep their version",
    "parameters": [ORGANIZATION],
    "responses": {204: None, **problems(400, 404)},
}
PROFILE_TEST: dict[str, Any] = {
    "operation_id": "testLogProfile",
    "summary": "Try a log profile on lines",
    "request": {"application/json": reference("LogTrial")},
    "responses": {200: reference("LogTrialResult"), **problems(400, 404, 413, 415)},
}
