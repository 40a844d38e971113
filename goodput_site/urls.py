"""Every address: the interface, the pages, the admin, health."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("v1/", include("ledger.api.urls")),
    path("admin/", admin.site.urls),
    path("", include("dashboards.urls")),
]
