"""Signing in and out."""

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError

from dashboards import throttle
from ledger import throttling

MINUTES = throttle.FORGOTTEN_AFTER_SECONDS // 60


class SignInForm(AuthenticationForm):
    """Name and password; too many failures have to wait."""

    error_messages = {
        "invalid_login": "That name and password do not belong together.",
        "inactive": "This account is switched off.",
        "too_many": f"Too many failed attempts; try again in {MINUTES} minutes.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Name"

    def clean(self) -> dict[str, Any]:
        name, address = self.cleaned_data.get("username") or "", self.address
        if not throttle.begin(name, address):
            raise ValidationError(self.error_messages["too_many"], code="too_many")
        cleaned = super().clean()
        throttle.succeeded(name, address)
        return cleaned

    @property
    def address(self) -> str:
        meta = {} if self.request is None else self.request.META
        forwarded = str(meta.get("HTTP_X_FORWARDED_FOR", ""))
        return throttling.address(str(meta.get("REMOTE_ADDR", "")), forwarded, settings.NUM_PROXIES)


class SignIn(LoginView):
    """The login page."""

    authentication_form = SignInForm
    template_name = "dashboards/sign_in.html"
    redirect_authenticated_user = True
