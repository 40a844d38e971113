"""What a GPU-hour costs in each pool, from which day on. Prices move no time; they turn GPU time held into money."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from django.db import transaction

from ledger import audit
from ledger.models import Cluster, Pool, Price

MICROS = 1_000_000
ONE_MICRO = Decimal("0.000001")
MAX = 100_000


@dataclass(frozen=True, slots=True)
class PoolPrice:
    """A pool and what a GPU-hour in it costs today, in millionths of the currency; None where no price is set.

    `later` are the prices set for days to come: (day, micros).
    """

    pk: int
    pool: str
    micros: int | None
    since: datetime | None
    later: tuple[tuple[datetime, int], ...]


def micros_of(text: str) -> int:
    """Return a price as millionths: "2.50" → 2,500,000. Raises ValueError with a sentence that can be shown."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise ValueError("must be a number, like 2.50") from None
    if not value.is_finite() or not 0 <= value <= MAX:
        raise ValueError(f"must be from 0 to {MAX}")
    micros = value.quantize(ONE_MICRO)  # at most 12 digits here, where a product would keep 28 of any number
    if micros != value:
        raise ValueError("must have at most 6 decimals")
    return int(micros.scaleb(6))


def text_of(micros: int) -> str:
    """Return a price with two decimals or as many as it has: "2.50", "0.125"."""
    whole, part = divmod(micros, MICROS)
    decimals = f"{part:06d}".rstrip("0")
    return f"{whole}.{decimals.ljust(2, '0')}"


def prices_of(cluster: Cluster, now: datetime) -> list[PoolPrice]:
    """Return every pool of a cluster, by name, with its price at `now`."""
    pools = list(Pool.objects.filter(cluster=cluster).order_by("name"))
    dated: dict[int, list[tuple[datetime, int]]] = {pool.pk: [] for pool in pools}
    for pk, since, micros in (
        Price.objects.filter(pool__in=pools).order_by("since").values_list("pool_id", "since", "micros")
    ):
        dated[pk].append((since, micros))
    return [_standing(pool, dated[pool.pk], now) for pool in pools]


def _standing(pool: Pool, dated: list[tuple[datetime, int]], now: datetime) -> PoolPrice:
    past = [price for price in dated if price[0] <= now]
    later = tuple(price for price in dated if price[0] > now)
    return PoolPrice(pool.pk, pool.name, past[-1][1] if past else None, past[-1][0] if past else None, later)


@transaction.atomic
def set_prices(cluster: Cluster, since: datetime, prices: dict[int, int]) -> int:
    """Set prices by pool, in millionths, in force from the UTC day of `since` on; return how many changed.

    Prices set for later days stay. Raises ValueError for a pool of another cluster.
    """
    day = since.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    pools = {pool.pk: pool for pool in Pool.objects.select_for_update().filter(cluster=cluster, pk__in=prices)}
    if len(pools) != len(prices):
        raise ValueError("there is no such pool in the cluster")
    standing = {price.pk: price.micros for price in prices_of(cluster, day + timedelta(microseconds=1))}
    changed = {pk: micros for pk, micros in prices.items() if standing.get(pk) != micros}
    for pk, micros in changed.items():
        Price.objects.update_or_create(pool_id=pk, since=day, defaults={"micros": micros})
    if changed:
        said = {pools[pk].name: text_of(micros) for pk, micros in sorted(changed.items())}
        audit.record(
            "prices_changed",
            cluster.organization.name,
            cluster=str(cluster),
            since=day.date().isoformat(),
            prices=said,
        )
    return len(changed)
