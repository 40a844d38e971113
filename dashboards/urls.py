"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from dashboards.views.cluster_settings import cluster_settings
from dashboards.views.goodput import cluster_goodput, goodput
from dashboards.views.home import home
from dashboards.views.people import invitation, you
from dashboards.views.runs import run, runs
from dashboards.views.settings import organization_settings, workspace_settings
from dashboards.views.sign_in import SignIn
from dashboards.views.weekly import weekly

urlpatterns = [
    path("", home, name="home"),
    path("login", SignIn.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("w/<str:organization>/<path:workspace>/runs/<str:run>", run, name="run"),
    path("w/<str:organization>/<path:workspace>/runs", runs, name="runs"),
    path("w/<str:organization>/<path:workspace>/goodput/weekly", weekly, name="weekly"),
    path("w/<str:organization>/<path:workspace>/goodput", goodput, name="goodput"),
    path("w/<str:organization>/<path:workspace>/settings", workspace_settings, name="workspace-settings"),
    path("w/<str:organization>/<path:workspace>/runs/<path:run>", run, name="run-with-slashes"),
    path("organizations/<str:organization>/clusters/<path:cluster>/goodput", cluster_goodput, name="cluster"),
    path(
        "organizations/<str:organization>/clusters/<path:cluster>/settings", cluster_settings, name="cluster-settings"
    ),
    path("organizations/<str:organization>/settings", organization_settings, name="organization-settings"),
    path("invitations/<str:token>", invitation, name="invitation"),
    path("you", you, name="you"),
]
