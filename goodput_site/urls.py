"""Every address: health, the interface, the admin, the pages."""

from django.contrib import admin
from django.urls import include, path

from goodput_site.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("v1/", include("ledger.api.urls")),
    path("admin/", admin.site.urls),
    path("", include("dashboards.urls")),
]
