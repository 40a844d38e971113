"""Tables, constraints and indexes; nothing in this package decides anything."""

from ledger.models.access import Bucket, Token
from ledger.models.alerts import Alert
from ledger.models.audit import Change
from ledger.models.cells import (
    DayMachine,
    DayPool,
    DayRun,
    DirtyDay,
    DirtyHour,
    EighthMachine,
    EighthRun,
    HourPool,
    LedgerHour,
    OpenCell,
    Revision,
    RunTotal,
    WeekMachine,
    WeekRun,
)
from ledger.models.evidence import (
    Covered,
    FlipRow,
    GoneRow,
    Listing,
    Source,
    Span,
    StallRow,
    State,
    Told,
    Word,
)
from ledger.models.fleet import Capacity, Machine, Pool, Readiness
from ledger.models.logs import LogChunk, LogFold, LogProfile, LogStream, Measurement
from ledger.models.notify import Channel, Delivery
from ledger.models.people import Invitation, Viewer
from ledger.models.prices import Price
from ledger.models.progress import PipelineHour, Straggle
from ledger.models.runs import Refused, Run, Worker
from ledger.models.tenancy import Administration, Cluster, ClusterRule, Membership, Organization, Workspace

__all__ = [
    "Administration",
    "Alert",
    "Bucket",
    "Capacity",
    "Change",
    "Channel",
    "Cluster",
    "ClusterRule",
    "Covered",
    "DayMachine",
    "DayPool",
    "DayRun",
    "Delivery",
    "DirtyDay",
    "DirtyHour",
    "EighthMachine",
    "EighthRun",
    "FlipRow",
    "GoneRow",
    "HourPool",
    "Invitation",
    "LedgerHour",
    "Listing",
    "LogChunk",
    "LogFold",
    "LogProfile",
    "LogStream",
    "Machine",
    "Measurement",
    "Membership",
    "OpenCell",
    "Organization",
    "PipelineHour",
    "Pool",
    "Price",
    "Readiness",
    "Refused",
    "Revision",
    "Run",
    "RunTotal",
    "Source",
    "Span",
    "StallRow",
    "State",
    "Straggle",
    "Token",
    "Told",
    "Viewer",
    "WeekMachine",
    "WeekRun",
    "Word",
    "Worker",
    "Workspace",
]
