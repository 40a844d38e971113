"""Every address, and what each principal gets there: the rules of who sees what, once more and in other words."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
READ = ("GET", "HEAD")
TARGETS = ("own", "sibling", "foreign", "unknown")
INVALID = ("anonymous", "expired token", "revoked token")
TOKENS = {
    "metrics token": "metrics",
    "ingest token": "ingest",
    "read token": "read",
    "admin token": "admin",
    "workspace's read token": "read",
    "workspace's ingest token": "ingest",
    "workspace's admin token": "admin",
}
PEOPLE = ("member", "sibling's member", "organization's admin", "foreign admin", "operator")
PRINCIPALS = (*INVALID, *TOKENS, *PEOPLE)
OF_WORKSPACE = {
    "read token": {"own", "sibling"},
    "workspace's read token": {"own"},
    "member": {"own"},
    "sibling's member": {"sibling"},
    "organization's admin": {"own", "sibling"},
    "foreign admin": {"foreign"},
    "operator": {"own", "sibling", "foreign"},
}
OF_CLUSTER = {
    "ingest token": {"own", "sibling"},
    "workspace's ingest token": {"own", "sibling"},
    "admin token": {"own", "sibling"},
    "organization's admin": {"own", "sibling"},
    "foreign admin": {"foreign"},
    "operator": {"own", "sibling", "foreign"},
}
OF_ORGANIZATION = {
    "organization's admin": {"own", "sibling"},
    "foreign admin": {"foreign"},
    "operator": {"own", "sibling", "foreign"},
}
SENT_TO = {
    "ingest token": {"own", "sibling"},
    "admin token": {"own", "sibling"},
    "workspace's ingest token": {"own"},
    "workspace's admin token": {"own"},
}
OF_PROFILE = {
    "read token": {"own", "sibling"},
    "foreign admin": {"own", "sibling", "foreign"},
    "operator": {"own", "sibling", "foreign"},
}
CHANGING = ("POST", "PUT", "DELETE")
Rule = Callable[[str, str, str], int]


class Address(NamedTuple):
    """A rule, the query that the address needs, and the parameters of each target ("" = there is only one)."""

    rule: Rule
    query: str = ""
    targets: tuple[dict[str, str], ...] = ({},)


def entered(scopes: tuple[str, ...], people: bool, may: Callable[[str, str], int], methods: tuple[str, ...]) -> Rule:
    """Return the rule of an address of the interface: known, allowed, a method that there is, something to see."""

    def rule(who: str, target: str, method: str) -> int:
        if who in INVALID or (who in PEOPLE and not people):
            return 401
        if who in PEOPLE and method not in SAFE:
            return 403  # without a CSRF token
        if who in TOKENS and TOKENS[who] not in scopes:
            return 403
        return may(who, target) if method in methods else 405

    return rule


def of_workspace(who: str, target: str) -> int:
    return 200 if not target or target in OF_WORKSPACE.get(who, ()) else 404


def of_cluster(who: str, target: str) -> int:
    if who.startswith("workspace's"):
        return 403
    return 200 if target in OF_CLUSTER.get(who, ()) else 404


def held_of_cluster(who: str, target: str) -> int:
    return 200 if target in OF_CLUSTER[who] else 404


def observed(who: str, target: str) -> int:
    return 202 if target in OF_CLUSTER[who] else 404


def measured(who: str, target: str, method: str) -> int:
    """A run's measurement: read by who reads, begun by who sends or administers; the body that is sent is none."""
    if who in INVALID:
        return 401
    scopes = ("ingest", "admin") if method in CHANGING else ("read",)
    return changed(who, target, method, scopes, ("GET", "HEAD", "PUT"))


def shipped(who: str, target: str, method: str) -> int:
    """Lines of a run's log."""
    rule = entered(("ingest",), False, lambda who, target: 400 if target in SENT_TO[who] else 404, ("POST",))
    return rule(who, target, method)


def changed(who: str, target: str, method: str, scopes: tuple[str, ...], methods: tuple[str, ...]) -> int:
    if who in PEOPLE and method not in SAFE:
        return 403
    if who in TOKENS and TOKENS[who] not in scopes:
        return 403
    if method not in methods:
        return 405
    if method in CHANGING:
        return 400 if target in SENT_TO[who] else 404
    return of_workspace(who, target)


def profiles(who: str, target: str, method: str) -> int:
    """Log profiles: whoever is known reads them; tokens of the organization with the scope admin write them."""
    if who in INVALID:
        return 401
    if who in PEOPLE and method not in SAFE:
        return 403
    scopes = ("admin",) if method in CHANGING else ("read", "ingest", "admin")
    if who in TOKENS and TOKENS[who] not in scopes:
        return 403
    if method not in (("GET", "HEAD", "PUT", "DELETE") if target else ("GET", "HEAD", "POST")):
        return 405
    if method not in CHANGING:
        return of_organization(who, target)
    if who.startswith("workspace's"):
        return 403
    return 404 if method == "DELETE" else 400


def of_organization(who: str, target: str) -> int:
    return 200 if not target or target in OF_PROFILE.get(who, OF_PROFILE["read token"]) else 404


def tried(who: str, _: str, method: str) -> int:
    return entered(("read", "ingest", "admin"), True, lambda *_: 400, ("POST",))(who, "", method)


def nothing(*_: str) -> int:
    return 404


def everybody(_: str, __: str, method: str) -> int:
    return 200 if method in READ else 405


def page(who: str, target: str, method: str) -> int:
    """A page: to the login with who is not signed in; tokens open no page."""
    if method not in READ:
        return 405 if method in SAFE else 403
    if who not in PEOPLE:
        return 302
    return of_workspace(who, target)


def cluster_page(who: str, target: str, method: str) -> int:
    return page(who, "", method) if method not in READ or who not in PEOPLE else of_cluster(who, target)


def own_page(who: str, _: str, method: str) -> int:
    return page(who, "", method)


def no_invitation(_: str, __: str, method: str) -> int:
    """An invitation that there is not, for whoever comes: it needs no account."""
    return 404 if method in READ else 405 if method in SAFE else 403


def front_door(who: str, _: str, method: str) -> int:
    return page(who, "", method) if method not in READ else 302


def plain(_: str, __: str, method: str) -> int:
    """A view that knows nobody, behind the middleware that asks for CSRF tokens."""
    return 200 if method in READ else 405 if method in SAFE else 403


def login(who: str, _: str, method: str) -> int:
    if method not in SAFE:
        return 403
    return 302 if who in PEOPLE else 405 if method == "TRACE" else 200


def logout(_: str, __: str, method: str) -> int:
    return 403 if method not in SAFE else 200 if method == "OPTIONS" else 405


def server(who: str, _: str, method: str) -> int:
    if method not in READ:
        return 405 if method in SAFE else 403
    return 200 if who == "operator" else 403 if who in PEOPLE else 401


def admin(who: str, _: str, method: str) -> int:
    """Django's admin, for all but operators."""
    return 403 if method not in SAFE else 302


def organization_page(who: str, target: str, method: str) -> int:
    if method not in READ or who not in PEOPLE:
        return page(who, "", method)
    return 200 if target in OF_ORGANIZATION.get(who, ()) else 404


RUNS = tuple({"run": f"uid-{target}"} for target in TARGETS)
PROFILES = tuple({"name": name} for name in ("maxtext", "torchtitan", "theirs", "nobody's"))  # two are everybody's
CLUSTERS = tuple({"cluster": name} for name in ("east", "west", "theirs", "nowhere"))
WHERE = (
    {"organization": "acme", "cluster": "east"},
    {"organization": "acme", "cluster": "west"},
    {"organization": "globex", "cluster": "theirs"},
    {"organization": "nobody", "cluster": "nowhere"},
)
ROOMS = (
    {"organization": "acme", "workspace": "vision"},
    {"organization": "acme", "workspace": "speech"},
    {"organization": "globex", "workspace": "hidden"},
    {"organization": "nobody", "workspace": "nothing"},
)
PLACED = tuple({**room, **run} for room, run in zip(ROOMS, RUNS, strict=True))
HOUSES = tuple({"organization": name} for name in ("acme", "acme", "globex", "nobody"))
WITH_MACHINE = tuple({**room, "name": f"gpu-{target}"} for room, target in zip(ROOMS, TARGETS, strict=True))
WITH_POOL = tuple({**room, "name": f"pool-{target}"} for room, target in zip(ROOMS, TARGETS, strict=True))
OF_CLUSTERS = ("own", "west", "foreign", "unknown")
MACHINES = tuple({**where, "name": f"gpu-{of}"} for where, of in zip(WHERE, OF_CLUSTERS, strict=True))
POOLS = tuple({**where, "name": f"pool-{of}"} for where, of in zip(WHERE, OF_CLUSTERS, strict=True))
PAGES = "w/<name:organization>/<names:workspace>"
CLUSTER_PAGES = "organizations/<name:organization>/clusters/<names:cluster>"
LEDGERS = entered(("read",), True, of_workspace, READ)
CLUSTER_LEDGERS = entered(("admin",), True, of_cluster, READ)
API_CLUSTER = "v1/organizations/<path:organization>/clusters/<path:cluster>"

ADDRESSES: dict[str, Address] = {
    "healthz": Address(plain),
    "metrics": Address(server),
    "v1/goodput": Address(LEDGERS),
    "v1/goodput/weekly": Address(LEDGERS),
    "v1/goodput/metrics": Address(entered(("metrics",), False, of_workspace, READ)),
    "v1/runs": Address(LEDGERS),
    "v1/runs/<path:run>": Address(LEDGERS, targets=RUNS),
    "v1/runs/<path:run>/goodput": Address(LEDGERS, targets=RUNS),
    "v1/runs/<path:run>/timeline": Address(LEDGERS, targets=RUNS),
    "v1/runs/<path:run>/measurement": Address(measured, targets=RUNS),
    "v1/runs/<path:run>/batches": Address(shipped, targets=RUNS),
    "v1/runs/<path:run>/pipeline": Address(LEDGERS, targets=RUNS),
    "v1/runs/<path:run>/logs": Address(shipped, targets=RUNS),
    "v1/log-profiles": Address(profiles),
    "v1/log-profiles/test": Address(tried),
    "v1/log-profiles/<path:name>": Address(profiles, targets=PROFILES),
    "v1/alerts": Address(LEDGERS),
    "v1/workers": Address(LEDGERS, "state=stalled"),
    f"{API_CLUSTER}/goodput": Address(CLUSTER_LEDGERS, targets=WHERE),
    f"{API_CLUSTER}/goodput/weekly": Address(CLUSTER_LEDGERS, targets=WHERE),
    "v1/clusters/<path:cluster>/observations": Address(
        entered(("ingest",), False, observed, ("POST",)), targets=CLUSTERS
    ),
    "v1/clusters/<path:cluster>/refused": Address(
        entered(("ingest", "admin"), False, of_cluster, READ), targets=CLUSTERS
    ),
    "v1/clusters/<path:cluster>/workers": Address(entered(("ingest",), False, held_of_cluster, READ), targets=CLUSTERS),
    "v1/clusters/<path:cluster>/sources": Address(
        entered(("ingest", "admin"), False, of_cluster, READ), targets=CLUSTERS
    ),
    "v1/schema": Address(everybody),
    "v1/docs": Address(plain),
    "v1/": Address(nothing),
    "": Address(front_door),
    "login": Address(login),
    "logout": Address(logout),
    f"{PAGES}/goodput": Address(page, targets=ROOMS),
    f"{PAGES}/alerts": Address(page, targets=ROOMS),
    f"{PAGES}/goodput/weekly": Address(page, targets=ROOMS),
    f"{PAGES}/runs": Address(page, targets=ROOMS),
    f"{PAGES}/runs/<name:run>": Address(page, targets=PLACED),
    f"{PAGES}/runs/<names:run>": Address(page, targets=PLACED),
    f"{PAGES}/machines": Address(page, targets=ROOMS),
    f"{PAGES}/machines/<name:name>": Address(page, targets=WITH_MACHINE),
    f"{PAGES}/machines/<names:name>": Address(page, targets=WITH_MACHINE),
    f"{PAGES}/pools": Address(page, targets=ROOMS),
    f"{PAGES}/pools/<name:name>": Address(page, targets=WITH_POOL),
    f"{PAGES}/pools/<names:name>": Address(page, targets=WITH_POOL),
    f"{CLUSTER_PAGES}/goodput": Address(cluster_page, targets=WHERE),
    f"{CLUSTER_PAGES}/goodput/weekly": Address(cluster_page, targets=WHERE),
    f"{CLUSTER_PAGES}/machines": Address(cluster_page, targets=WHERE),
    f"{CLUSTER_PAGES}/machines/<name:name>": Address(cluster_page, targets=MACHINES),
    f"{CLUSTER_PAGES}/pools": Address(cluster_page, targets=WHERE),
    f"{CLUSTER_PAGES}/pools/<name:name>": Address(cluster_page, targets=POOLS),
    "w/<name:organization>/<names:workspace>/log-profiles": Address(page, targets=ROOMS),
    "w/<name:organization>/<names:workspace>/log-profiles/<name:name>": Address(
        page, targets=tuple({**room, "name": "maxtext"} for room in ROOMS)
    ),
    "w/<name:organization>/<names:workspace>/settings": Address(page, targets=ROOMS),
    "w/<name:organization>/<names:workspace>/settings/notifications": Address(page, targets=ROOMS),
    "organizations/<name:organization>/clusters/<names:cluster>/settings": Address(cluster_page, targets=WHERE),
    "organizations/<name:organization>/settings": Address(organization_page, targets=HOUSES),
    "invitations/<str:token>": Address(no_invitation, targets=({"token": "nothing"},)),
    "you": Address(own_page),
}


def routes(patterns: list[URLPattern | URLResolver] | None = None, before: str = "") -> Iterator[str]:
    """Yield the route of every address that the site has."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route
