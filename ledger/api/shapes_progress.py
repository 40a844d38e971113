"""The shapes of reports, pipelines and stragglers, for the OpenAPI document."""

from ledger.api.shapes import COUNT, GPUS, INSTANT, TEXT, Shape, listing, nullable, shape
from ledger.core.streams import Doing

SECONDS: Shape = {"type": "number", "minimum": 0, "maximum": 1_000_000}
TIME: Shape = {"type": "number"}
DOING: Shape = nullable({"type": "string", "enum": [doing.label for doing in Doing if doing]})
TIMES = ("wall_seconds", "source_seconds", "transform_seconds", "transfer_seconds")

PROGRESS_COMPONENTS: dict[str, Shape] = {
    "Report": shape(
        {
            "worker": TEXT, "at": INSTANT, "step": nullable(COUNT), "step_seconds": nullable(SECONDS), "doing": DOING,
            "batches": nullable(COUNT), **{name: nullable(SECONDS) for name in TIMES},
        },
        ("step", "step_seconds", "doing", "batches", *TIMES),
    ),
    "Reports": shape({"sent_at": INSTANT, "batches": listing("Report")}),
    "WorkerPipeline": shape(
        {
            "worker": TEXT, "batches": COUNT, **dict.fromkeys(TIMES, TIME), "productive_seconds": TIME,
            "overhead_seconds": {**TIME, "description": "Below 0 where stages overlap."},
            "pipeline_goodput": {**TIME, "description": "Productive / wall; above 1 where stages overlap."},
            "at": nullable(INSTANT), "step": nullable(COUNT), "step_at": nullable(INSTANT),
            "step_seconds": nullable(TIME), "doing": DOING,
        },
        ("pipeline_goodput",),
    ),
    "Pipeline": shape(
        {"start": INSTANT, "end": INSTANT, "slowest": nullable(TEXT), "workers": listing("WorkerPipeline")}
    ),
    "StragglingWorker": shape(
        {
            **dict.fromkeys(("workspace", "run", "uid", "worker", "machine", "pool"), TEXT),
            "since": INSTANT, "step": nullable(COUNT), "gpus": GPUS, "step_seconds": TIME, "gang_step_seconds": TIME,
            "slower": {**TIME, "description": "Its step time in parts of its gang's."}, "steps_behind": COUNT,
            "gang_gpus": {**TIME, "description": "What its gang holds."},
            "gpus_waiting": {**TIME, "description": "How many GPUs of its gang wait for it, if it does at each step."},
        }
    ),
    "StragglingWorkers": shape(
        {
            "workers": listing("StragglingWorker"), "at": INSTANT,
            "next": nullable({"type": "string", "format": "uri"}),
        }
    ),
}  # fmt: skip
