"""`/metrics`: how the server itself does. It names organizations and clusters, so it is for operators only."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from goodput_site.celery import app
from ledger import queries
from ledger.metrics import Family, exposition, labels

BROKER_SECONDS = 2.0

log = logging.getLogger(__name__)


@never_cache
@require_safe
def server_metrics(request: HttpRequest) -> HttpResponse:
    """Serve the metrics to an operator's session, or to whoever shows the setting METRICS_TOKEN as a bearer token."""
    if not (shows_token(request) or is_operator(request)):
        if request.user.is_authenticated:
            return HttpResponse("These metrics are for operators.\n", status=403, content_type="text/plain")
        challenge = {"WWW-Authenticate": "Bearer"}
        return HttpResponse("Who asks?\n", status=401, content_type="text/plain", headers=challenge)
    text, content_type = exposition(families(), request.headers.get("Accept", ""))
    return HttpResponse(text, content_type=content_type)


def is_operator(request: HttpRequest) -> bool:
    return bool(request.user.is_authenticated and request.user.is_staff)


def shows_token(request: HttpRequest) -> bool:
    scheme, _, shown = request.headers.get("Authorization", "").partition(" ")
    token = settings.METRICS_TOKEN
    return bool(token) and scheme.lower() == "bearer" and constant_time_compare(shown, token)


def families() -> Iterator[Family]:
    """Yield what is known now; what is not known has no sample."""
    age = Family(
        "ledger_watermark_age_seconds", "How long ago the instant lies up to which a cluster was last counted."
    )
    duration = Family("ledger_count_duration_seconds", "How long the last count of a cluster took.")
    refused = Family("ledger_refused_items", "Items of observations that were refused in the last 24 hours.")
    pruned = Family(
        "ledger_prune_last_success_timestamp", "When pruning last had nothing left to do, in seconds since 1970."
    )
    for cluster in queries.clusters_health():
        of = labels(organization=cluster.organization, cluster=cluster.cluster)
        if cluster.age_ms is not None:
            age.add(of, cluster.age_ms / 1000)
        if cluster.count_ms is not None:
            duration.add(of, cluster.count_ms / 1000)
        refused.add(of, cluster.refused)
        if cluster.pruned_at is not None:
            pruned.add(of, cluster.pruned_at / 1000)
    yield from (age, duration, refused, pruned)
    yield from of_sources()
    firing = Family("astraeus_threshold_alerts_firing", "Alerts that are firing, by their rule.")
    for rule, count in queries.alerts_firing().items():
        firing.add(labels(metric=rule), count)
    yield firing
    queue = Family("ledger_queue_length", "Tasks that wait for a Celery worker.")
    waiting = queue_length()
    if waiting is not None:
        queue.add(labels(queue=app.conf.task_default_queue), waiting)
    yield queue


def of_sources() -> Iterator[Family]:
    """Yield how long ago each source that has live workers was heard, and 1 for each whose list is held back."""
    silence = Family(
        "ledger_source_silence_seconds", "How long ago a source that has live workers had its newest word."
    )
    stale = Family("ledger_source_stale", "1 where the words of a source that has live workers have run out.")
    vanished = Family("ledger_workers_vanished", "1 where a source's lists lack most of its workers and are held back.")
    now = queries.now()
    for one in queries.sources_now():
        of = labels(organization=one.organization, cluster=one.cluster, source=one.source)
        if one.live and one.word_at is not None:
            silence.add(of, max(0, now - one.word_at) / 1000)
            stale.add(of, int(one.stale_since is not None))
        if one.live or one.held_since is not None:
            vanished.add(of, int(one.held_since is not None))
    yield from (silence, stale, vanished)


def queue_length() -> int | None:
    """Return how many tasks wait, None when the broker does not say."""
    try:
        with app.connection_for_read(connect_timeout=BROKER_SECONDS) as connection:
            queue = connection.default_channel.queue_declare(queue=app.conf.task_default_queue, passive=True)
            return int(queue.message_count)
    except Exception as error:  # each transport has errors of its own
        log.warning("the broker did not say how many tasks wait: %s", error)
        return None
