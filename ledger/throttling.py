"""How often somebody may ask: a bucket a key, in Postgres, so that all processes count together."""

from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address

from ledger import sql


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `most` within `seconds` of the first; 0 = as many as one likes."""

    most: int
    seconds: int = 60


def spend(key: str, rate: Rate) -> int:
    """Take one from the key's bucket; return the seconds to wait where there is none, 0 where it may pass."""
    if not rate.most:
        return 0
    wait = int(sql.value("bucket_spend", key=_short(key), most=rate.most, seconds=rate.seconds))
    return -(-wait // 1000)


def give_back(key: str) -> None:
    """Put one back."""
    sql.run("bucket_return", key=_short(key))


def fill(key: str) -> None:
    """Forget what was taken."""
    sql.run("bucket_fill", key=_short(key))


def sweep() -> int:
    """Remove the buckets that are full again, and return how many there were."""
    return sql.run("buckets_sweep")


def address(remote: str, forwarded: str, proxies: int) -> str:
    """Return where a request comes from, as the outermost of `proxies` trusted proxies saw it.

    Each of them appends whom it was asked by to X-Forwarded-For; what stands further left anybody may have written.
    """
    hops = [hop.strip() for hop in forwarded.split(",")] if proxies and forwarded else []
    said = hops[-min(proxies, len(hops))] if hops else remote
    try:
        return str(ip_address(said))
    except ValueError:
        return remote


def _short(key: str) -> str:
    """Return a key of one length, which does not show names and addresses."""
    return sha256(key.encode()).hexdigest()
