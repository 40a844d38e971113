"""What every view under /v1 has in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.schemas.inspectors import ViewInspector
from rest_framework.views import APIView

from ledger import throttling
from ledger.api.authentication import TOKEN_PARAMETERS, MayUse, TokenAuthentication
from ledger.api.problems import Problem, TooOften, handle
from ledger.models import Token
from ledger.throttling import Rate
from ledger.writing.figures import CSV, as_json


class JsonRenderer(BaseRenderer):
    """JSON, unless a view has written its answer already."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, *_: Any, **__: Any) -> bytes:
        if isinstance(data, bytes):
            return data
        return b"" if data is None else as_json(data)


class AlwaysJson(BaseContentNegotiation):
    """There is one form of answer, whatever is asked for."""

    def select_parser(self, *_: Any) -> Any:
        return None

    def select_renderer(self, _: Any, renderers: Iterable[BaseRenderer], *__: Any) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type


class ApiView(APIView):
    """A view of the interface: JSON, tokens with one of `scopes`, problems as errors, nothing kept by caches."""

    authentication_classes: Sequence[type[BaseAuthentication]] = (TokenAuthentication,)
    permission_classes: Sequence[type[BasePermission]] = (MayUse,)
    parser_classes = ()
    renderer_classes = (JsonRenderer,)
    content_negotiation_class = AlwaysJson
    http_method_names = ["get", "head", "post"]
    schema: ViewInspector | None = AutoSchema()
    scopes: frozenset[str] = frozenset({"read"})
    throttle = "read"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if any(name.lower() in TOKEN_PARAMETERS for name in request.GET):
            raise Problem(400, "A token goes into the Authorization header, never into the address.")
        super().initial(request, *args, **kwargs)

    def perform_authentication(self, request: Request) -> None:
        """Who guesses tokens is counted by address, for there is nothing else to tell them by."""
        try:
            super().perform_authentication(request)
        except AuthenticationFailed:
            self.take("stranger", address_of(request))
            raise

    def permission_denied(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        if not isinstance(request.auth, Token):
            self.take("stranger", address_of(request))
        super().permission_denied(request, *args, **kwargs)

    def check_throttles(self, request: Request) -> None:
        """Count the request for its token, else for its person, else for its address. Raises TooOften."""
        if isinstance(request.auth, Token):
            self.take(self.throttle, f"token {request.auth.digest}")
        elif request.user.is_authenticated:
            self.take(self.throttle, f"user {request.user.pk}")
        else:
            self.take("stranger", address_of(request))

    def take(self, what: str, who: str) -> None:
        wait = throttling.spend(f"{what} {who}", Rate(settings.THROTTLES.get(what, 0)))
        if wait:
            raise TooOften(wait)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        final["Cache-Control"] = "no-store"
        return final

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return handle


def address_of(request: Request) -> str:
    """Return where the request comes from."""
    meta = request.META
    forwarded = str(meta.get("HTTP_X_FORWARDED_FOR", ""))
    return throttling.address(str(meta.get("REMOTE_ADDR", "")), forwarded, settings.NUM_PROXIES)


def csv_answer(text: str, name: str, following: str | None = None) -> Response:
    """Return a table as a file; where JSON has `next`, its next page is named in a header."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    if following is not None:
        headers["Link"] = f'<{following}>; rel="next"'
    return Response(text.encode(), headers=headers, content_type=CSV)


def page_at(request: Request, offset: int, said: Mapping[str, Any]) -> str:
    """Return the address of the page of the question `said` that begins at `offset`."""
    return request.build_absolute_uri(f"{request.path}?{urlencode({**said, 'offset': offset})}")


class Nothing(ApiView):
    """Every address under /v1 that is none."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, *_: Any, **__: Any) -> None:
        raise Http404
