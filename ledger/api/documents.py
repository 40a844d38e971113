"""The OpenAPI document, and a page that shows it: with files of this server only, and no script within the page."""

from functools import cache
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from django.views.generic import TemplateView
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request
from rest_framework.response import Response

from ledger.api.base import ApiView


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document; it is the same as long as the process lives."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    made: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made


class Schema(ApiView):
    """The OpenAPI document. It says nothing of anybody's, so everybody may read it."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def get(self, _: Request) -> Response:
        return Response(document())


@method_decorator(csp_update({"img-src": [SELF, "data:"]}), name="dispatch")
class Documents(TemplateView):
    """A page on which the document can be read and tried; its style sheet brings its icons along."""

    template_name = "ledger/documents.html"
    http_method_names = ["get", "head"]
