"""What people fill in on the settings pages, read into values that the steps take."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.core.exceptions import ValidationError

from ledger import prices, tokens
from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR
from ledger.prices import PoolPrice
from ledger.viewers import ZONES

MINUTE = 60_000
DAYS = ((90, "90 days"), (30, "30 days"), (365, "a year"), (0, "for ever"))
SCOPE_MEANINGS = {
    "read": "read: ledgers, runs, timelines",
    "metrics": "metrics: to be scraped by Prometheus",
    "ingest": "ingest: to send observations",
    "admin": "admin: the ledgers of whole clusters",
}


class TokenForm(forms.Form):
    """A token to be made; members may make some of the scopes only."""

    scopes = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="It may")
    days = forms.TypedChoiceField(choices=DAYS, coerce=int, label="Valid for")

    def __init__(self, *args: Any, scopes: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"].choices = [(scope, SCOPE_MEANINGS[scope]) for scope in scopes]  # type: ignore[attr-defined]
        if scopes != tokens.SCOPES:
            days = self.fields["days"]
            days.choices = [choice for choice in DAYS if choice[0]]  # type: ignore[attr-defined]

    @property
    def lifetime(self) -> int | None:
        return self.cleaned_data["days"] or None


class CurrencyForm(forms.Form):
    currency = forms.RegexField(
        r"\A[A-Z]{3}\Z",
        label="Currency of prices",
        strip=True,
        max_length=3,
        error_messages={"invalid": "Write the three capitals of ISO 4217, like USD or EUR."},
        widget=forms.TextInput(attrs={"size": 4, "autocomplete": "off", "spellcheck": "false"}),
    )


def _minutes(label: str, help_text: str) -> forms.DecimalField:
    return forms.DecimalField(label=label, help_text=help_text, min_value=1, max_value=1440, decimal_places=2)


class ThresholdsForm(forms.Form):
    """What acts when a sample arrives, and the dated settings, in force from the next whole hour on."""

    busy = forms.DecimalField(
        label="Busy from (%)", min_value=0, max_value=100, decimal_places=3, help_text="A GPU under it is idle."
    )
    stall = _minutes("Stalled after (minutes)", "A worker whose step stands still for longer is stalled.")
    carry = _minutes("A word or reading covers (minutes)", "What nobody watched for longer is unobserved.")
    straggler = forms.DecimalField(
        label="A straggler from (times)",
        min_value=Decimal("1.01"),
        max_value=100,
        decimal_places=3,
        help_text="its gang's step time, for three minutes.",
    )
    auto = forms.BooleanField(label="Make a workspace when it is first named", required=False)
    unmeasured = forms.ChoiceField(
        label="Running without a reading counts as",
        choices=[(category.label, category.label) for category in (Category.PRODUCTIVE, Category.IDLE)],
        help_text="From the next whole hour on.",
    )
    readings = forms.ChoiceField(
        label="GPU readings",
        choices=[("expected", "are expected"), ("none", "this cluster has none")],
        help_text="From the next whole hour on.",
    )

    drop_below = forms.DecimalField(
        label="Alert: goodput under (%)",
        min_value=0,
        max_value=100,
        decimal_places=3,
        help_text="of one final hour,",
    )
    drop_points = forms.DecimalField(
        label="… by so many points", min_value=0, max_value=100, decimal_places=3, help_text="less than the day before."
    )
    drop_held = forms.DecimalField(
        label="… with GPU-hours held", min_value=0, max_value=1_000_000, decimal_places=6, help_text="in that hour."
    )

    def thresholds(self) -> dict[str, Any]:
        """Return what `set_thresholds` takes, of the fields that were changed."""
        asked = {
            "busy_milli_percent": ("busy", 1000),
            "stall_after": ("stall", MINUTE),
            "carry_max": ("carry", MINUTE),
            "straggler_milli": ("straggler", 1000),
            "drop_below": ("drop_below", 1000),
            "drop_points": ("drop_points", 1000),
            "drop_least_held": ("drop_held", GPU_US_PER_HOUR),
        }
        changed: dict[str, Any] = {
            name: int(self.cleaned_data[field] * unit)
            for name, (field, unit) in asked.items()
            if field in self.changed_data
        }
        if "auto" in self.changed_data:
            changed["auto_workspaces"] = self.cleaned_data["auto"]
        return changed

    def rule(self) -> dict[str, Any]:
        """Return what `set_rule` takes, of the fields that were changed."""
        said: dict[str, Any] = {}
        if "unmeasured" in self.changed_data:
            said["unmeasured_as"] = Category[self.cleaned_data["unmeasured"].upper()]
        if "readings" in self.changed_data:
            said["readings_expected"] = self.cleaned_data["readings"] == "expected"
        return said


class PricesForm(forms.Form):
    """A price for each pool, by its id; a field left empty changes nothing."""

    since = forms.DateField(label="From the day (UTC)", widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args: Any, pools: list[PoolPrice], today: date, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["since"].initial = today
        for pool in pools:
            self.fields[f"pool-{pool.pk}"] = PriceField(
                label=pool.pool,
                required=False,
                initial="" if pool.micros is None else prices.text_of(pool.micros),
                widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 10, "autocomplete": "off"}),
            )

    @property
    def day(self) -> datetime:
        return datetime.combine(self.cleaned_data["since"], time(), UTC)

    @property
    def by_pool(self) -> dict[int, int]:
        named = {name.removeprefix("pool-"): value for name, value in self.cleaned_data.items() if name != "since"}
        return {int(pk): micros for pk, micros in named.items() if micros is not None}


class PriceField(forms.CharField):
    """A price per GPU-hour as millionths; None where the field is empty."""

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            return prices.micros_of(text)
        except ValueError as error:
            raise ValidationError(f"A price {error}.") from None


PLACES = sorted(zone for zone in ZONES if "/" in zone and not zone.startswith("Etc/"))  # not EST, Zulu, GMT+3


class ViewerForm(forms.Form):
    """How a person reads pages."""

    zone = forms.ChoiceField(
        label="Time zone", required=False, choices=[("", "UTC"), *((zone, zone.replace("_", " ")) for zone in PLACES)]
    )


class JoinForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """A name and a password for who has no account yet."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Name"
        self.fields["username"].help_text = ""
        self.fields["password1"].help_text = "At least 8 characters, and none of the common ones."
        self.fields["password2"].label = "Password again"
        self.fields["password2"].help_text = ""
        self.fields.pop("usable_password", None)
