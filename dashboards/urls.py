"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path, register_converter

from dashboards.names import NameConverter, NamesConverter
from dashboards.views.alerts import alerts
from dashboards.views.cluster_settings import cluster_settings
from dashboards.views.goodput import cluster_goodput, goodput
from dashboards.views.home import home
from dashboards.views.notifications import notifications
from dashboards.views.people import invitation, you
from dashboards.views.profiles import log_profile, log_profiles
from dashboards.views.runs import run, runs
from dashboards.views.settings import organization_settings, workspace_settings
from dashboards.views.sign_in import SignIn
from dashboards.views.spots import cluster_spot, cluster_spots, spot, spots
from dashboards.views.weekly import cluster_weekly, weekly

register_converter(NameConverter, "name")
register_converter(NamesConverter, "names")

WORKSPACE = "w/<name:organization>/<names:workspace>"
CLUSTER = "organizations/<name:organization>/clusters/<names:cluster>"
MACHINE, POOL = {"kind": "machine"}, {"kind": "pool"}

urlpatterns = [
    path("", home, name="home"),
    path("login", SignIn.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path(f"{WORKSPACE}/runs/<name:run>", run, name="run"),
    path(f"{WORKSPACE}/runs", runs, name="runs"),
    path(f"{WORKSPACE}/machines/<name:name>", spot, MACHINE, name="machine"),
    path(f"{WORKSPACE}/machines", spots, MACHINE, name="machines"),
    path(f"{WORKSPACE}/pools/<name:name>", spot, POOL, name="pool"),
    path(f"{WORKSPACE}/pools", spots, POOL, name="pools"),
    path(f"{WORKSPACE}/alerts", alerts, name="alerts"),
    path(f"{WORKSPACE}/goodput/weekly", weekly, name="weekly"),
    path(f"{WORKSPACE}/goodput", goodput, name="goodput"),
    path(f"{CLUSTER}/machines/<name:name>", cluster_spot, MACHINE, name="cluster-machine"),
    path(f"{CLUSTER}/machines", cluster_spots, MACHINE, name="cluster-machines"),
    path(f"{CLUSTER}/pools/<name:name>", cluster_spot, POOL, name="cluster-pool"),
    path(f"{CLUSTER}/pools", cluster_spots, POOL, name="cluster-pools"),
    path(f"{CLUSTER}/goodput/weekly", cluster_weekly, name="cluster-weekly"),
    path(f"{CLUSTER}/goodput", cluster_goodput, name="cluster"),
    path(f"{WORKSPACE}/log-profiles/<name:name>", log_profile, name="log-profile"),
    path(f"{WORKSPACE}/log-profiles", log_profiles, name="log-profiles"),
    path(f"{WORKSPACE}/settings/notifications", notifications, name="notifications"),
    path(f"{WORKSPACE}/settings", workspace_settings, name="workspace-settings"),
    path(f"{CLUSTER}/settings", cluster_settings, name="cluster-settings"),
    path("organizations/<name:organization>/settings", organization_settings, name="organization-settings"),
    path("invitations/<str:token>", invitation, name="invitation"),
    path("you", you, name="you"),
    # a name with slashes in it, as a person writes it
    path(f"{WORKSPACE}/runs/<names:run>", run, name="run-with-slashes"),
    path(f"{WORKSPACE}/machines/<names:name>", spot, MACHINE, name="machine-with-slashes"),
    path(f"{WORKSPACE}/pools/<names:name>", spot, POOL, name="pool-with-slashes"),
]
