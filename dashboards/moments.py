"""Instants and lengths as people read them. Instants are UTC milliseconds; texts are in the zone of whoever reads."""

from datetime import UTC, datetime, timedelta

from dashboards import zones

MINUTE = 60_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc(at: int) -> datetime:
    return EPOCH + timedelta(milliseconds=at)


def moment(at: int) -> datetime:
    """Return an instant in the zone of whoever reads."""
    return utc(at).astimezone(zones.here())


def zone(at: int) -> str:
    """Return what the reader's zone is called at an instant: "UTC", "CEST", "UTC+04" where it has no letters."""
    return zone_of(moment(at))


def zone_of(here: datetime) -> str:
    """Return what its zone is called at a moment."""
    name = here.tzname() or "UTC"
    return f"UTC{name}" if name[0] in "+-" else name


def zone_name() -> str:
    """Return the reader's zone: "UTC", "Europe/Paris"."""
    return zones.here().key


def iso(at: int) -> str:
    """Return "2026-11-08T14:40:00Z", with milliseconds only where there are some."""
    text = utc(at).isoformat(timespec="milliseconds" if at % 1000 else "seconds")
    return text.replace("+00:00", "Z")


def clock(at: int) -> str:
    return moment(at).strftime("%H:%M")


def day_and_clock(at: int, now: int, clock: str = "%H:%M") -> str:
    """Return "8 Nov 14:40", with its year when that is not this one; `clock` as strftime takes it."""
    here = moment(at)
    year = "" if here.year == moment(now).year else " %Y"
    return here.strftime(f"%-d %b{year} {clock}")


def day(at: int) -> str:
    """Return "8 Nov 2026"."""
    return moment(at).strftime("%-d %b %Y")


def field(at: int) -> str:
    """Return what an <input type="datetime-local"> takes."""
    return moment(at).strftime("%Y-%m-%dT%H:%M")


def since(at: int, now: int) -> str:
    """Return the clock of `at`, with its day when that is not today."""
    return clock(at) if moment(at).date() == moment(now).date() else day_and_clock(at, now)


def length(milliseconds: int) -> str:
    """Return a length of time in its two largest units: "38 min", "2 h 5 min", "3 d 4 h"."""
    minutes = max(milliseconds, 0) // MINUTE
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} d {minutes % 1440 // 60} h"
