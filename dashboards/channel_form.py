"""What people fill in for a new channel."""

from typing import Any

from django import forms

KINDS = (("email", "Mail"), ("webhook", "Webhook"), ("service", "Slack or another service"))


class ChannelForm(forms.Form):
    kind = forms.ChoiceField(label="How", choices=KINDS)
    name = forms.CharField(label="Name", max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    target = forms.CharField(
        label="Where to",
        max_length=2_000,
        help_text="A mail address; a public address that begins with https://; https://hooks.slack.com/services/… or "
        "another service's, like discord://… or pagerduty://…",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "size": 60}),
    )
    pools = forms.CharField(
        label="Only of these pools",
        required=False,
        max_length=2_000,
        help_text="Names with commas between them; every pool when empty. Alerts that are not about a pool are told.",
    )
    clusters = forms.BooleanField(label="Also what is about whole clusters: pools, sources, counting", required=False)
    digest = forms.BooleanField(label="The week's digest, on Mondays (mail only)", required=False)

    def clean_pools(self) -> list[str]:
        return [name.strip() for name in self.cleaned_data["pools"].split(",") if name.strip()]

    def clean_name(self) -> str:
        name: Any = self.cleaned_data["name"]
        if not name.isprintable():
            raise forms.ValidationError("A name has no control characters.")
        return str(name)
