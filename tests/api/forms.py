"""What people change, each with the right CSRF token: the forms of pages, and what a session may do over the API."""

from typing import NamedTuple

from tests.api.matrix import ADDRESSES, CLUSTER_PAGES, OF_ORGANIZATION, PAGES


class Form(NamedTuple):
    """What a form says ("{alert}" = the target's alert), its status for who may send it, and if only managers may."""

    said: dict[str, str]
    status: int
    managed: bool = True


UNKNOWN = Form({"action": "nothing"}, 404, managed=False)
FORMS: dict[str, tuple[Form, ...]] = {
    f"{PAGES}/settings": (
        UNKNOWN,
        Form({"action": "issue", "scopes": "read", "days": "90"}, 200, managed=False),
        Form({"action": "revoke", "token": "goodput_none"}, 302, managed=False),
        Form({"action": "invite"}, 200),
        Form({"action": "withdraw", "invitation": "0"}, 302),
        Form({"action": "remove", "name": "nobody"}, 302),
        Form({"action": "currency", "currency": "EUR"}, 404),
    ),
    f"{PAGES}/settings/notifications": (
        UNKNOWN,
        Form({"action": "add", "kind": "email", "name": "m", "target": "a@example.com"}, 302),
        Form({"action": "add"}, 400),
        Form({"action": "remove", "channel": "0"}, 404),
        Form({"action": "test", "channel": "0"}, 404),
    ),
    f"{PAGES}/alerts": (
        Form({"action": "nothing", "alert": "{alert}"}, 404, managed=False),
        Form({"action": "acknowledge", "alert": "0"}, 404, managed=False),
        Form({"action": "acknowledge", "alert": "{alert}"}, 302, managed=False),
        Form({"action": "silence", "hours": "8", "alert": "{alert}"}, 302, managed=False),
    ),
    f"{PAGES}/log-profiles/<name:name>": (
        UNKNOWN,
        Form({"action": "try", "lines": "x"}, 200, managed=False),
        Form({"action": "save"}, 400),  # a built-in one is not written over
        Form({"action": "retire"}, 200),  # a built-in one stays
    ),
    f"{CLUSTER_PAGES}/settings": (
        UNKNOWN,
        Form({"action": "thresholds"}, 400),
        Form({"action": "prices"}, 400),
    ),
    "organizations/<name:organization>/settings": (
        UNKNOWN,
        Form({"action": "issue", "scopes": "read", "days": "90"}, 200),
        Form({"action": "revoke", "token": "goodput_none"}, 302),
        Form({"action": "invite"}, 200),
        Form({"action": "withdraw", "invitation": "0"}, 302),
        Form({"action": "remove", "name": "nobody"}, 302),
        Form({"action": "currency", "currency": "EUR"}, 302),
    ),
    "you": (
        Form({"action": "zone", "zone": "Europe/Paris"}, 302, managed=False),
        Form({"action": "nothing"}, 400, managed=False),
    ),
    "invitations/<str:token>": (Form({}, 404, managed=False),),
    "login": (Form({}, 302, managed=False),),
    "logout": (Form({}, 302, managed=False),),
}
DOORS = ("invitations/<str:token>", "login", "logout")  # also for who is not signed in
API_CHANGES = {
    "v1/runs/<path:run>/measurement": {"PUT"},
    "v1/log-profiles": {"POST"},
    "v1/log-profiles/<path:name>": {"PUT", "DELETE"},
    "v1/log-profiles/test": {"POST"},
}


def sent(route: str, who: str, target: str, form: Form) -> int:
    """The status of a page's answer to a form of a person."""
    if ADDRESSES[route].rule(who, target, "GET") == 404:
        return 404
    return 404 if form.managed and target and target not in OF_ORGANIZATION.get(who, ()) else form.status


def changed(route: str, who: str, target: str, method: str) -> int:
    """The status of any other changing request of a person, with an empty body."""
    address, methods = ADDRESSES[route], API_CHANGES.get(route, set())
    if route == "v1/":
        return 404
    if route == "login":
        return 302  # is signed in
    if address.rule(who, target, "GET") == 401 or address.rule(who, target, "POST") == 401:
        return 401  # tokens only
    if method not in methods:
        return 405
    if route.startswith("v1/runs"):
        return 404 if address.rule(who, target, "GET") == 404 else 400
    if route == "v1/log-profiles/test":
        return 400
    if who not in OF_ORGANIZATION:
        return 403
    if who == "operator" or method != "DELETE":
        return 400  # of which organization, or an empty body
    return 204 if (who, target) == ("foreign admin", "foreign") else 404
