"""How templates write numbers, moments and links."""

from typing import Any
from urllib.parse import urlencode

from django import template

from dashboards import moments, numbers
from dashboards.filters import Shown
from dashboards.places import Place, Spots
from dashboards.sections import Part
from ledger.prices import text_of

register = template.Library()

register.filter("price", text_of)
register.filter("hours", numbers.hours)
register.filter("gpus", numbers.gpus)
register.filter("clock", moments.clock)
register.filter("day", moments.day)
register.filter("iso", moments.iso)
register.filter("field", moments.field)


register.simple_tag(moments.zone, name="zone")
register.simple_tag(moments.zone_name, name="zone_name")


@register.filter
def thousands(count: int) -> str:
    return numbers.grouped(str(count))


@register.simple_tag
def since(at: int, now: int) -> str:
    return moments.since(at, now)


@register.simple_tag
def day_and_clock(at: int, now: int) -> str:
    return moments.day_and_clock(at, now)


@register.simple_tag
def lasted(at: int, now: int) -> str:
    return moments.length(now - at)


@register.simple_tag
def bare_gpus(gpus_milli: int) -> str:
    """Return milli-GPUs as GPUs, for a column whose header says so."""
    return numbers.gpus(gpus_milli).split(" ")[0]


@register.simple_tag
def run_page(organization: str, workspace: str, uid: str) -> str:
    """Return the address of a run's page."""
    return Place(organization, workspace).run(uid)


@register.simple_tag
def spot_page(place: Spots, kind: str, name: str) -> str:
    """Return the address of a machine's or a pool's page."""
    return place.spot(kind, name)


@register.simple_tag
def query(**values: str) -> str:
    """Return values as a query string."""
    return urlencode(values)


@register.simple_tag
def link(shown: Shown, **changes: Any) -> str:
    """Return the address of the page with something changed."""
    return shown.link(**changes)


@register.simple_tag
def sorting(shown: Shown, name: str) -> str:
    """Return the address that sorts by a column: most first (names: A first), and the other way the second time."""
    first, second = (name, f"-{name}") if name == "name" else (f"-{name}", name)
    return shown.link(sort=second if shown.sort == first else first)


@register.simple_tag
def sorted_how(shown: Shown, name: str) -> str:
    """Return the aria-sort of a column."""
    if shown.sort.lstrip("-") != name:
        return "none"
    return "descending" if shown.sort.startswith("-") else "ascending"


@register.simple_tag(takes_context=True)
def section(context: template.Context, part: Part) -> str:
    """Return the fragment of a part of a page, rendered with the page's context and its own."""
    assert context.template is not None, "rendered within a template"
    with context.push(**part.context):
        return str(context.template.engine.get_template(part.template).render(context))
