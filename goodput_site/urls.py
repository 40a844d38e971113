"""Every address: health, metrics, the interface, the admin, the pages."""

from django.contrib import admin
from django.urls import include, path

from dashboards.views.operators import operators_login
from goodput_site.health import healthz
from goodput_site.metrics import server_metrics

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("metrics", server_metrics, name="server-metrics"),
    path("v1/", include("ledger.api.urls")),
    path("admin/login/", operators_login),
    path("admin/", admin.site.urls),
    path("", include("dashboards.urls")),
]
