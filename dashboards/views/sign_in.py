"""Signing in and out."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError

from dashboards import throttle

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
        if throttle.is_blocked(name, address):
            raise ValidationError(self.error_messages["too_many"], code="too_many")
        try:
            cleaned = super().clean()
        except ValidationError:
            throttle.failed(name, address)
            raise
        throttle.succeeded(name, address)
        return cleaned

    @property
    def address(self) -> str:
        return "" if self.request is None else str(self.request.META.get("REMOTE_ADDR", ""))


class SignIn(LoginView):
    """The login page."""

    authentication_form = SignInForm
    template_name = "dashboards/sign_in.html"
    redirect_authenticated_user = True
