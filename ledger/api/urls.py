"""Addresses under /v1/."""

from django.urls import path, re_path

from ledger.api.base import Nothing
from ledger.api.documents import Documents, Schema
from ledger.api.goodput import Goodput
from ledger.api.observations import Observations, RefusedItems

urlpatterns = [
    path("goodput", Goodput.as_view(), name="goodput"),
    path("clusters/<str:cluster>/observations", Observations.as_view(), name="observations"),
    path("clusters/<str:cluster>/refused", RefusedItems.as_view(), name="refused"),
    path("schema", Schema.as_view(), name="schema"),
    path("docs", Documents.as_view(), name="docs"),
    re_path("", Nothing.as_view()),
]
