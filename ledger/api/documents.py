"""The OpenAPI document, and a page that shows it: with files of this server only, and no script within the page."""

from collections.abc import Callable
from typing import Any

from django.views.generic import TemplateView
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from ledger.api.problems import handle
from ledger.api.schema import SETTINGS


class Schema(SpectacularJSONAPIView):
    """The OpenAPI document. It says nothing of anybody's, so everybody may read it."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    custom_settings = SETTINGS

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return handle


class Documents(TemplateView):
    """A page on which the document can be read and tried."""

    template_name = "ledger/documents.html"
    http_method_names = ["get", "head"]
