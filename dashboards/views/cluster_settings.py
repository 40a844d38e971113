"""The settings of a cluster: how its samples are judged, and what a GPU-hour in its pools costs."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboards.forms import MINUTE, PricesForm, ThresholdsForm
from dashboards.menu import menu_of
from dashboards.moments import moment, utc, zone
from dashboards.places import cluster_of, cluster_row, signed_in
from ledger import prices, queries, rules
from ledger.core.totals import GPU_US_PER_HOUR

if TYPE_CHECKING:
    from ledger.access import Cluster


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def cluster_settings(request: HttpRequest, organization: str, cluster: str) -> HttpResponse:
    """Serve the settings of a cluster to who runs its organization, and change them."""
    place = cluster_of(request.user, organization, cluster)
    row = cluster_row(request.user, organization, cluster)
    now = utc(queries.now())
    told: dict[str, Any] | None = {}
    if request.method == "POST":
        action = ACTIONS.get(request.POST.get("action", ""))
        if action is None:
            raise Http404("There is no such page.")
        told = action(request, row, now)
    if told is None:
        return redirect(place.settings)
    context = {
        "place": place,
        "menu": menu_of(request.user, place, "Settings"),
        "currency": row.organization.currency,
        "pools": prices.prices_of(row, now),
        "thresholds_form": thresholds_form(row),
        "prices_form": prices_form(row, now),
    }
    wrong = 400 if told else 200
    return render(request, "dashboards/settings/cluster.html", context | told, status=wrong)


def thresholds_form(row: "Cluster", data: Any = None) -> ThresholdsForm:
    standing = rules.standing(row.pk)
    initial = {
        "busy": _number(row.busy_threshold_milli_percent, 1000),
        "stall": _number(row.stall_after_ms, MINUTE),
        "carry": _number(row.carry_max_ms, MINUTE),
        "auto": row.auto_workspaces,
        "straggler": _number(row.straggler_milli, 1000),
        "drop_below": _number(row.drop_below_milli_percent, 1000),
        "drop_points": _number(row.drop_points_milli, 1000),
        "drop_held": _number(row.drop_least_held_us, GPU_US_PER_HOUR),
        "unmeasured": standing.unmeasured_as.label,
        "readings": "expected" if standing.readings_expected else "none",
    }
    return ThresholdsForm(data, initial=initial)


def _number(value: int, unit: int) -> Decimal:
    """Return value / unit without zeros behind."""
    number = (Decimal(value) / unit).quantize(Decimal("0.001")).normalize()
    return number.quantize(Decimal(1)) if number == number.to_integral() else number


def prices_form(row: "Cluster", now: datetime, data: Any = None) -> PricesForm:
    return PricesForm(data, pools=prices.prices_of(row, now), today=now.astimezone(UTC).date())


def set_thresholds(request: HttpRequest, row: "Cluster", _: datetime) -> dict[str, Any] | None:
    form = thresholds_form(row, request.POST)
    if not form.is_valid():
        return {"thresholds_form": form}
    if thresholds := form.thresholds():
        rules.set_thresholds(row.pk, **thresholds)
    if rule := form.rule():
        since = rules.set_rule(row.pk, **rule)
        messages.success(
            request, f"In force from {moment(since):%H:%M} {zone(since)} on; time already counted stays as it is."
        )
    elif thresholds:
        messages.success(request, "In force for samples that arrive from now on; time already counted stays as it is.")
    return None


def set_prices(request: HttpRequest, row: "Cluster", now: datetime) -> dict[str, Any] | None:
    form = prices_form(row, now, request.POST)
    if not form.is_valid():
        return {"prices_form": form}
    changed = prices.set_prices(row, form.day, form.by_pool)
    what = f"{changed} price{'' if changed == 1 else 's'} changed" if changed else "No price changed"
    messages.success(request, f"{what}, from {form.day:%-d %b %Y} on.")
    return None


ACTIONS = {"thresholds": set_thresholds, "prices": set_prices}
