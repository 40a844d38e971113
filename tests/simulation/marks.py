"""What must have happened in a run of many seeds: a fault that was never hit was not simulated."""

MARKS = frozenset({
    # the world
    "GPUs change while it runs", "a phase that lasts no time", "another attempt while it runs",
    "ended", "failed", "preempted", "paused", "vanished",
    "a run's name is reused", "a dated setting", "midnight", "two tenants", "a gang hangs with its master",
    "an evaluation between steps",
    # its sources and the network
    "a source is away", "a list comes back empty", "delayed", "lost and sent again", "sent twice",
    "sent again without an answer", "out of order", "late for an hour that is over",
    # the clock
    "clock: step", "clock: drift", "clock: swing", "clock: noise", "the clock steps back", "the clock jumps",
    # the actors
    "ingest dies before its transaction", "ingest dies at a statement", "ingest dies before its answer",
    "categorizer dies before it closes hours", "categorizer dies before it counts",
    "categorizer dies at a statement", "categorizer dies before its acknowledgement",
    "closer dies before it closes hours", "closer dies at a statement", "reader dies before it reads",
    "nobody counts for an hour",
    "the edge moves", "too late for the edge",
    "pruner dies before it moves the edge", "pruner dies before it removes", "pruner dies at a statement",
    "alerter dies before it judges", "alerter dies at a statement",
    "sender dies before it sends", "sender dies at a statement",
    # what came of it
    "counted: productive", "counted: idle", "counted: stalled", "counted: starting", "counted: restart",
    "counted: failure", "counted: preemption", "counted: waiting", "counted: unobserved",
    "counted: unobserved_productive",
})  # fmt: skip

# what only Postgres has, in a number of seeds there
TOLD = frozenset({"an alert is told", "an alert is told twice", "an alert is over", "two alerts of one subject"})
