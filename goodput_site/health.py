"""`/healthz`: 200 while it serves and counts, else 503 with the reason."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

COUNT_AGE_MAX = timedelta(minutes=3)
_seen_migrated = False


@never_cache
@require_safe
def healthz(_: HttpRequest) -> JsonResponse:
    """`{"status": "ok", "counted_until": …}`, or `{"status": "unwell", "reason": …}` with 503."""
    from ledger import queries

    try:
        reason = unmigrated()
        state = queries.health()
    except DatabaseError as error:
        return unwell(f"the database does not answer: {str(error).splitlines()[0]}")
    reason = reason or stale_count(state.last_categorized_at, timezone.now())
    if reason:
        return unwell(reason)
    return JsonResponse({"status": "ok", "counted_until": state.counted_until})


def unwell(reason: str) -> JsonResponse:
    return JsonResponse({"status": "unwell", "reason": reason}, status=503)


def unmigrated() -> str:
    """Which migrations are missing; "" when none is. Asked of the database until the answer is good once."""
    global _seen_migrated  # noqa: PLW0603
    if _seen_migrated:
        return ""
    missing = missing_migrations()
    _seen_migrated = not missing
    return f"migrations are missing: {', '.join(missing)}" if missing else ""


def missing_migrations() -> list[str]:
    """Names (app.migration) of what `manage.py migrate` would apply."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def stale_count(last: datetime | None, now: datetime) -> str:
    """Why the last count is too old; "" when it is not, or when there is no cluster to count yet."""
    if last is None or now - last <= COUNT_AGE_MAX:
        return ""
    minutes = int((now - last).total_seconds() // 60)
    return f"the categorizer last counted {minutes} minutes ago; are worker and beat running?"
