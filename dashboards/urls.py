"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from dashboards.views.goodput import cluster_goodput, goodput
from dashboards.views.home import home
from dashboards.views.runs import run, runs
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
    path("w/<str:organization>/<path:workspace>/runs/<path:run>", run, name="run-with-slashes"),
    path("organizations/<str:organization>/clusters/<path:cluster>/goodput", cluster_goodput, name="cluster"),
]
