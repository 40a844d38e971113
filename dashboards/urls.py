"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from dashboards.views.goodput import goodput
from dashboards.views.home import home
from dashboards.views.sign_in import SignIn

urlpatterns = [
    path("", home, name="home"),
    path("login", SignIn.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("w/<str:organization>/<path:workspace>/goodput", goodput, name="goodput"),
]
