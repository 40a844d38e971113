"""The shapes of log goodput for the OpenAPI document."""

from ledger.api.shapes import COUNT, INSTANT, TEXT, YES, Shape, listing, nullable, reference, shape
from ledger.logs.profiles import KIND
from ledger.logs.thresholds import FIGURES

FIGURE: Shape = {"type": "string", "description": "A number with 6 decimals."}
OBJECT: Shape = {"type": "object", "additionalProperties": True}
LINES: Shape = {"oneOf": [{"type": "array", "items": TEXT}, TEXT], "description": "Lines, or one text of them."}
STATUS: Shape = {
    "result": {**FIGURE, "description": "Log goodput; absent when nothing was measured."},
    "startTime": INSTANT,
    "completionTime": INSTANT,
    "conditions": listing("MeasurementCondition"),
    **dict.fromkeys(("currentStep", "highestStep", "lastCheckpointStep"), COUNT),
    **dict.fromkeys(
        ("trainingTimeSec", "lostWorkTimeSec", "rescheduleTimeSec", "resumeTimeSec", "checkpointSaveTimeSec",
         "avgStepTimeSec", "avgTFLOPSPerGPU", "algBandwidthGBps", "busBandwidthGBps", "stepTimeSec", "skewSec"), FIGURE,
    ),
    **dict.fromkeys(("interruptionCount", "stepLines", "stepCount"), COUNT),
    "networkTransport": TEXT,
}  # fmt: skip
CAPTURED: Shape = {"type": "object", "additionalProperties": TEXT}
SPEC: Shape = {
    "jobRef": shape({"name": TEXT, "uid": TEXT}),
    "logProfileRef": shape({"name": TEXT, "version": COUNT}),
    "sampleInterval": COUNT,
    "thresholds": CAPTURED,
}

LOG_COMPONENTS: dict[str, Shape] = {
    "MeasurementCondition": shape({"type": TEXT, "status": TEXT, "reason": TEXT, "message": TEXT}),
    "MeasurementStatus": shape(STATUS, tuple(name for name in STATUS if name != "conditions")),
    "ThresholdResult": shape(
        {
            "figure": {"type": "string", "enum": list(FIGURES)},
            "expression": TEXT,
            "value": nullable(FIGURE),
            "outcome": {"type": "string", "enum": ["pass", "fail", "no data", "pending"]},
        }
    ),
    "GoodputMeasurement": shape(
        {
            "apiVersion": TEXT,
            "kind": TEXT,
            "spec": shape(SPEC),
            "status": reference("MeasurementStatus"),
            "provisional": YES,
            "formula": TEXT,
            "thresholds": listing("ThresholdResult"),
            "read": shape({"lines": COUNT, "bytes": COUNT, "dropped": COUNT}),
        }
    ),
    "MeasurementWish": shape(
        {
            "logProfileRef": {"oneOf": [TEXT, shape({"name": TEXT})]},
            "sampleInterval": {"type": "integer", "minimum": 1, "maximum": 3600},
            "thresholds": {
                "type": "object",
                "properties": {key: {"type": "string", "example": "value >= 0.85"} for key in FIGURES},
                "additionalProperties": False,
            },
        },
        ("logProfileRef", "sampleInterval", "thresholds"),
    ),
    "LogLines": shape(
        {
            "lines": LINES,
            "attempt": {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1},
            "worker": {"type": "string", "maxLength": 253, "description": "The run's first one when left out."},
            "first": {**nullable(COUNT), "description": "The number of the first line, where its reader counts them."},
            "profile": {**nullable(TEXT), "description": "Begins the measurement where the run names no profile."},
            "seen_at": {**nullable(INSTANT), "description": "Until when the process was seen: its step is told again."},
            "dropped": {**COUNT, "description": "Lines that the log's reader left out."},
        },
        ("attempt", "worker", "first", "profile", "seen_at", "dropped"),
    ),
    "LogReceipt": shape(
        {
            "read": {**COUNT, "description": "Lines that were new."},
            "again": {**COUNT, "description": "Lines that were read before."},
            "left": {**COUNT, "description": "Lines at the end that were not read for want of time; send them again."},
            "events": COUNT,
            "frozen": {**YES, "description": "The run is over; nothing is taken any more."},
        }
    ),
    "LogProfileDocument": {
        "type": "object",
        "properties": {
            "apiVersion": TEXT,
            "kind": {"type": "string", "enum": [KIND]},
            "metadata": OBJECT,
            "spec": OBJECT,
        },
        "additionalProperties": True,
    },
    "LogProfile": shape(
        {
            "name": TEXT,
            "version": {**COUNT, "description": "0: built in."},
            "builtin": YES,
            "organization": nullable(TEXT),
            "created_at": nullable(INSTANT),
            "created_by": TEXT,
            "document": OBJECT,
        }
    ),
    "LogProfiles": shape({"profiles": listing("LogProfile")}),
    "LogTrial": shape(
        {"profile": {"oneOf": [TEXT, OBJECT]}, "text": {**TEXT, "description": "A profile as YAML."}, "lines": LINES},
        ("profile", "text"),
    ),
    "LogMatch": shape(
        {
            "pattern": TEXT,
            "captured": CAPTURED,
            "units": CAPTURED,
            "at": nullable(INSTANT),
            "problems": {"type": "array", "items": TEXT},
        }
    ),
    "TriedLine": shape({"line": COUNT, "text": TEXT, "matches": listing("LogMatch")}),
    "LogTrialResult": shape(
        {
            "read": COUNT,
            "matched": {"type": "object", "additionalProperties": COUNT},
            "warnings": {"type": "array", "items": TEXT},
            "lines": listing("TriedLine"),
            "more": COUNT,
            "formula": TEXT,
            "status": reference("MeasurementStatus"),
        }
    ),
}
