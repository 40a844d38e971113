"""Addresses under /v1/. Names may have slashes in them, said as %2F; the last words of an address are ours."""

from django.urls import path, re_path

from ledger.api.alerts import Alerts
from ledger.api.base import Nothing
from ledger.api.clusters import ClusterSources, ClusterWorkers
from ledger.api.documents import Documents, Schema
from ledger.api.goodput import ClusterGoodput, ClusterWeekly, Goodput, Weekly
from ledger.api.logs import RunLogs, RunMeasurement
from ledger.api.metrics import Metrics
from ledger.api.observations import Observations, RefusedItems
from ledger.api.pipeline import RunBatches, RunPipeline
from ledger.api.profiles import LogProfiles, OneLogProfile, TryLogProfile
from ledger.api.runs import OneRun, RunGoodput, Runs, RunTimeline, Workers

app_name = "api"
CLUSTER = "organizations/<path:organization>/clusters/<path:cluster>"

urlpatterns = [
    path("goodput", Goodput.as_view(), name="goodput"),
    path("goodput/weekly", Weekly.as_view(), name="weekly"),
    path("goodput/metrics", Metrics.as_view(), name="metrics"),
    path("runs", Runs.as_view(), name="runs"),
    path("runs/<path:run>/goodput", RunGoodput.as_view(), name="run-goodput"),
    path("runs/<path:run>/timeline", RunTimeline.as_view(), name="run-timeline"),
    path("runs/<path:run>/measurement", RunMeasurement.as_view(), name="run-measurement"),
    path("runs/<path:run>/batches", RunBatches.as_view(), name="run-batches"),
    path("runs/<path:run>/pipeline", RunPipeline.as_view(), name="run-pipeline"),
    path("runs/<path:run>/logs", RunLogs.as_view(), name="run-logs"),
    path("runs/<path:run>", OneRun.as_view(), name="run"),
    path("log-profiles", LogProfiles.as_view(), name="log-profiles"),
    path("log-profiles/test", TryLogProfile.as_view(), name="log-profiles-test"),
    path("log-profiles/<path:name>", OneLogProfile.as_view(), name="log-profile"),
    path("alerts", Alerts.as_view(), name="alerts"),
    path("workers", Workers.as_view(), name="workers"),
    path(f"{CLUSTER}/goodput", ClusterGoodput.as_view(), name="cluster-goodput"),
    path(f"{CLUSTER}/goodput/weekly", ClusterWeekly.as_view(), name="cluster-weekly"),
    path("clusters/<path:cluster>/observations", Observations.as_view(), name="observations"),
    path("clusters/<path:cluster>/refused", RefusedItems.as_view(), name="refused"),
    path("clusters/<path:cluster>/workers", ClusterWorkers.as_view(), name="cluster-workers"),
    path("clusters/<path:cluster>/sources", ClusterSources.as_view(), name="cluster-sources"),
    path("schema", Schema.as_view(), name="schema"),
    path("docs", Documents.as_view(), name="docs"),
    re_path("", Nothing.as_view()),
]
