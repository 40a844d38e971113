"""Log profiles: members read them, operators write them; as JSON, or as the YAML of a Kubernetes resource."""

from typing import Any

import msgspec
from django.http import Http404
from drf_spectacular.utils import extend_schema
from msgspec import Struct
from rest_framework.request import Request
from rest_framework.response import Response

from ledger.access import Organization, manages, organizations_of
from ledger.api import schema_logs as schema
from ledger.api.authentication import exact, of_organization
from ledger.api.bodies import body_of
from ledger.api.goodput import Ledgers
from ledger.api.logs import WRITING, decoded, split
from ledger.api.problems import Problem
from ledger.api.reading import integer, known
from ledger.decode import BadBody, refuse_twice
from ledger.logs.profiles import DOCUMENT_BYTES_MAX, BadProfile, name_of
from ledger.logs.trying import LINES_MAX, trial, trial_as_json
from ledger.measuring import profiles
from ledger.measuring.profiles import StoredProfile
from ledger.measuring.yaml_form import YAML, YAML_TYPES, BadYaml, read, write
from ledger.models import Token

VERSION_MAX = 2**31 - 1
READERS = frozenset({"read", "ingest", "admin"})


class Trying(Struct, forbid_unknown_fields=True):
    """A profile, by its name, as a document or as the text of one, and the lines to try it on."""

    lines: list[str] | str
    profile: str | dict[str, Any] | None = None
    text: str | None = None


class ProfileView(Ledgers):
    """What the views of profiles have in common: who may read and who may write."""

    http_method_names = ["get", "head", "post", "put", "delete"]

    @property
    def scopes(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({"admin"}) if self.request.method in WRITING else READERS


def readable(request: Request) -> list[int]:
    """Return the organizations whose profiles the asker may see."""
    if isinstance(request.auth, Token):
        return [request.auth.organization_id]
    return [organization.pk for organization in organizations_of(request.user)]


def writable(request: Request) -> Organization:
    """Return the organization whose profiles the asker writes. Raises Problem, and Http404 for one unknown."""
    if isinstance(request.auth, Token):
        own: Organization = of_organization(request.auth).organization
        return own
    mine = [one for one in organizations_of(request.user) if manages(request.user, one)]
    if not mine:
        raise Problem(403, "Operators and admins of the organization write log profiles.")
    name = request.GET.get("organization")
    if name is not None:
        mine = [one for one in mine if one.name == exact(name)]
        if not mine:
            raise Http404
    if len(mine) > 1:
        raise Problem(400, "Which organization? Say ?organization=NAME.")
    return mine[0]


class LogProfiles(ProfileView):
    """Lists the profiles, the built-in ones first; takes a new one."""

    @extend_schema(**schema.PROFILES)
    def get(self, request: Request) -> Response:
        known(request.GET, ())
        found = [*profiles.builtins(), *profiles.newest_of(readable(request))]
        return Response({"profiles": [as_json(one) for one in found]})

    @extend_schema(**schema.PROFILE_MAKE)
    def post(self, request: Request) -> Response:
        organization = writable(request)
        known(request.GET, ("organization",))
        document = document_of(request)
        return saved(organization, name_of(document), document, request, 201)


class OneLogProfile(ProfileView):
    """Answers with a profile, in JSON or as YAML; keeps a new version of it; takes it out of the list."""

    @extend_schema(**schema.PROFILE)
    def get(self, request: Request, name: str) -> Response:
        given = known(request.GET, ("format", "version"))
        version = integer(given, "version", 0, VERSION_MAX, -1)
        found = profiles.find(readable(request), exact(name), None if version < 0 else version)
        if found is None:
            raise Http404
        if given.get("format", "json") == "yaml":
            return Response(write(found.document).encode(), content_type=YAML)
        if given.get("format", "json") != "json":
            raise Problem(400, "format must be json or yaml.")
        return Response(as_json(found))

    @extend_schema(**schema.PROFILE_SAVE)
    def put(self, request: Request, name: str) -> Response:
        organization = writable(request)
        known(request.GET, ("organization",))
        document = document_of(request)
        own = name_of(document)
        if own and own != exact(name):
            raise Problem(400, "metadata.name is not the name of the address.")
        return saved(organization, exact(name), document, request, 200)

    @extend_schema(**schema.PROFILE_RETIRE)
    def delete(self, request: Request, name: str) -> Response:
        organization = writable(request)
        known(request.GET, ("organization",))
        if not profiles.retire(organization, exact(name)):
            raise Http404
        return Response(status=204)


class TryLogProfile(Ledgers):
    """Tries a profile on lines and answers with what each says, and with the terms."""

    http_method_names = ["post"]
    scopes = READERS

    @extend_schema(**schema.PROFILE_TEST)
    def post(self, request: Request) -> Response:
        known(request.GET, ())
        body = decoded(request, Trying)
        document = tried(body, readable(request))
        lines = split(body.lines)
        if len(lines) > LINES_MAX:
            raise Problem(400, f"At most {LINES_MAX:,} lines are tried at once.")
        try:
            matcher = profiles.matcher_of(document)
        except BadProfile as error:
            raise Problem(400, f"{error}") from None
        return Response(trial_as_json(trial(matcher, lines), matcher))


def tried(body: Trying, organizations: list[int]) -> dict[str, Any]:
    """Return the document of the profile that is tried. Raises BadBody, and Http404 for an unknown name."""
    if isinstance(body.profile, dict):
        return checked(body.profile)
    if body.profile is not None:
        found = profiles.find(organizations, exact(body.profile))
        if found is None:
            raise Http404
        return found.document
    try:
        document = read((body.text or "").encode("utf-8", "replace"))
    except BadYaml as error:
        raise BadBody(400, f"{error}") from None
    if not isinstance(document, dict):
        raise BadBody(400, "Which profile? Say profile, its name or its document, or text, its YAML.")
    return checked(document)


def document_of(request: Request) -> dict[str, Any]:
    """Return the resource of a body, JSON or YAML. Raises BadBody."""
    body = body_of(request._request)
    if len(body) > DOCUMENT_BYTES_MAX:
        raise BadBody(413, f"A profile has at most {DOCUMENT_BYTES_MAX:,} bytes.")
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    try:
        document = read(body) if kind in YAML_TYPES else msgspec.json.decode(body)
        if kind not in YAML_TYPES:
            refuse_twice(body)
    except BadYaml as error:
        raise BadBody(400, f"{error}") from None
    except (ValueError, RecursionError):
        raise BadBody(400, "The body is not JSON; YAML is sent as application/yaml.") from None
    if not isinstance(document, dict):
        raise BadBody(400, "A profile is an object.")
    return checked(document)


def checked(document: dict[Any, Any]) -> dict[str, Any]:
    """Return a document as it is kept. Raises Problem."""
    try:
        return profiles.plain(document)
    except BadProfile as error:
        raise Problem(400, f"{error}") from None


def saved(organization: Organization, name: str, document: dict[str, Any], request: Request, status: int) -> Response:
    try:
        found = profiles.save(organization, name, document, actor_of(request))
    except BadProfile as error:
        raise Problem(400, f"{error}") from None
    return Response(as_json(found), status)


def actor_of(request: Request) -> str:
    return f"token {request.auth}" if isinstance(request.auth, Token) else request.user.get_username()


def as_json(of: StoredProfile) -> dict[str, Any]:
    created = None if of.created_at is None else of.created_at.isoformat().replace("+00:00", "Z")
    return {
        "name": of.name,
        "version": of.version,
        "builtin": of.builtin,
        "organization": of.organization or None,
        "created_at": created,
        "created_by": of.created_by,
        "document": of.document,
    }
