"""Django's admin, for operators: tenants, roles, tokens, thresholds, what was refused, what was changed.

It does what the pages and commands do, by the same functions, so each change stands in the audit log with who made it.
Nothing that would take counted time along can be deleted here.
"""

from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ledger.core.categories import Category
from ledger.decode import values
from ledger.models import (
    Administration,
    Change,
    Cluster,
    ClusterRule,
    Membership,
    Organization,
    Pool,
    Refused,
    Token,
    Workspace,
)
from ledger.models.access import DAYS_MAX, SCOPES
from ledger.rules import UNMEASURED, set_rule, set_thresholds

MINUTE = 60_000
AS_IT_IS = ("", "as it is")


class Operators:
    """Who is an operator may see; what else they may do, each class says."""

    adds, changes, deletes = False, False, False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.adds and self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.changes and self.has_module_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.deletes and self.has_module_permission(request)


class Rows(Operators, admin.ModelAdmin):  # type: ignore[type-arg]  # it takes no parameter when it runs
    """A list of rows; without actions of its own, since deleting many at once is none."""

    actions: Any = None
    show_full_result_count = False
    list_per_page = 50


class NameForm(forms.ModelForm):  # type: ignore[type-arg]  # the same
    """A name is one that the interface would take, too, and stays: addresses have it in them."""

    def clean_name(self) -> str:
        try:
            return values.name(self.cleaned_data["name"])
        except ValueError as error:
            raise ValidationError(f"The name {error}.") from None


class Roles(Operators, admin.TabularInline):  # type: ignore[type-arg]  # the same
    """People in a role, who come and go."""

    adds, deletes = True, True
    extra = 0
    autocomplete_fields = ("user",)


class Members(Roles):
    model = Membership


class Admins(Roles):
    model = Administration
    verbose_name_plural = "admins"


class Named(Rows):
    """Something with a name that is given once."""

    form = NameForm
    adds, changes = True, True
    search_fields: ClassVar[Any] = ("name",)
    ordering: ClassVar[Any] = ("name",)
    fixed: tuple[str, ...] = ("name",)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return () if obj is None else self.fixed


@admin.register(Organization)
class OrganizationAdmin(Named):
    fields = ("name",)
    inlines = (Admins,)


@admin.register(Workspace)
class WorkspaceAdmin(Named):
    inlines = (Members,)
    fixed = ("organization", "name")
    list_display = ("name", "organization")
    list_filter = ("organization",)
    ordering = ("organization__name", "name")


class ClusterForm(NameForm):
    """Settings in the units of the pages. Those of samples act from now on, the dated ones from the next whole hour."""

    busy = forms.DecimalField(
        label="Busy from (%)", min_value=0, max_value=100, decimal_places=3, initial=5, help_text="Of readings."
    )
    stall = forms.DecimalField(
        label="Stalled after (minutes)", min_value=1, max_value=1440, initial=10, help_text="Without progress."
    )
    carry = forms.DecimalField(
        label="A word covers (minutes)", min_value=1, max_value=1440, initial=5, help_text="And so does a reading."
    )
    unmeasured = forms.ChoiceField(
        label="Running without a reading counts as",
        choices=[AS_IT_IS, *((category.label, category.label) for category in UNMEASURED)],
        required=False, help_text="From the next whole hour on.",
    )  # fmt: skip
    readings = forms.ChoiceField(
        label="Readings of GPUs are", choices=[AS_IT_IS, ("expected", "expected"), ("none", "not to be had")],
        required=False, help_text="From the next whole hour on.",
    )  # fmt: skip

    class Meta:
        model = Cluster
        fields = ("organization", "name", "auto_workspaces")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        of = self.instance
        if of.pk:
            self.initial["busy"] = Decimal(of.busy_threshold_milli_percent) / 1000
            self.initial["stall"] = Decimal(of.stall_after_ms) / MINUTE
            self.initial["carry"] = Decimal(of.carry_max_ms) / MINUTE


@admin.register(Cluster)
class ClusterAdmin(Named):
    form = ClusterForm
    fixed = ("organization", "name", "dated")
    list_display = ("name", "organization", "counted_until")
    list_filter = ("organization",)
    ordering = ("organization__name", "name")

    @admin.display(description="Dated settings")
    def dated(self, cluster: Cluster) -> str:
        rules = ClusterRule.objects.filter(cluster=cluster).order_by("-since")
        return (
            "\n".join(
                f"from {rule.since:%Y-%m-%d %H:%M} UTC: readings {'expected' if rule.readings_expected else 'none'}, "
                f"running without one is {Category(rule.unmeasured_as).label}"
                for rule in rules
            )
            or "none; readings are expected, running without one is productive"
        )

    def save_model(self, request: HttpRequest, obj: Cluster, form: Any, change: bool) -> None:
        """Change only what is set here: the other columns are the clock's, which goes on meanwhile."""
        said = form.cleaned_data
        if not change:
            obj.save()
        set_thresholds(
            obj.pk,
            busy_milli_percent=int(said["busy"] * 1000) if "busy" in form.changed_data else None,
            stall_after=int(said["stall"] * MINUTE) if "stall" in form.changed_data else None,
            carry_max=int(said["carry"] * MINUTE) if "carry" in form.changed_data else None,
            auto_workspaces=said["auto_workspaces"] if change and "auto_workspaces" in form.changed_data else None,
        )
        if said["unmeasured"] or said["readings"]:
            set_rule(
                obj.pk,
                unmeasured_as=Category[said["unmeasured"].upper()] if said["unmeasured"] else None,
                readings_expected=said["readings"] == "expected" if said["readings"] else None,
            )


@admin.register(Pool)
class PoolAdmin(Rows):
    """Sources name pools; their prices are on the cluster's settings page."""

    list_display = ("name", "cluster")
    list_filter = ("cluster",)
    search_fields = ("name",)
    fields = ("name", "cluster")


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]  # the same
    """What a token is bound to and lets one do; its text is made by the server."""

    scopes = forms.MultipleChoiceField(
        choices=[(scope, scope) for scope in SCOPES], widget=forms.CheckboxSelectMultiple
    )
    days = forms.IntegerField(min_value=1, max_value=DAYS_MAX, required=False, help_text="Empty: it does not expire.")

    class Meta:
        model = Token
        fields = ("organization", "workspace", "scopes")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "workspace" in self.fields:
            self.fields["workspace"].required = False
            self.fields["workspace"].help_text = "Empty: it reaches all of the organization."

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        workspace, organization = said.get("workspace"), said.get("organization")
        if workspace is not None and organization is not None and workspace.organization_id != organization.pk:
            raise ValidationError("The workspace is not one of the organization.")
        return said


@admin.register(Token)
class TokenAdmin(Rows):
    """A token's text is shown once, on the page that answers its making; nothing of it can be changed after that."""

    form = TokenForm
    adds = True
    actions = ("revoke",)
    list_display = ("token_key", "organization", "workspace", "scopes", "created", "expiry")
    list_filter = ("organization",)
    search_fields = ("token_key",)
    ordering = ("-created",)

    def get_fields(self, request: HttpRequest, obj: Token | None = None) -> tuple[str, ...]:
        of = ("organization", "workspace", "scopes")
        return (*of, "days") if obj is None else ("token_key", *of, "created", "expiry")

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        said = form.cleaned_data
        made, plain = Token.issue(said["organization"], said["workspace"], said["scopes"], said["days"])
        obj.__dict__.update(made.__dict__)
        request.__dict__["issued"] = plain

    def response_add(self, request: HttpRequest, obj: Token, post_url_continue: str | None = None) -> HttpResponse:
        shown = {**self.admin_site.each_context(request), "title": "The token", "plain": request.__dict__["issued"]}
        page = render(request, "admin/ledger/token/issued.html", shown)
        page["Cache-Control"] = "no-store"
        return page

    @admin.action(description="Revoke: they are not valid any more, at once")
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        for token in queryset:
            token.delete()
        self.message_user(request, "Revoked.")


@admin.register(Refused)
class RefusedAdmin(Rows):
    list_display = ("received_at", "cluster", "source", "list", "field", "error")
    list_filter = ("cluster", "list", "error")
    search_fields = ("source", "error")
    ordering = ("-received_at",)


@admin.register(Change)
class ChangeAdmin(Rows):
    list_display = ("at", "actor", "what", "organization", "detail")
    list_filter = ("what", "organization")
    search_fields = ("actor", "what")
    ordering = ("-at",)


admin.site.unregister(User)
admin.site.unregister(Group)
admin.site.site_header = admin.site.site_title = "Goodput, for operators"


@admin.register(User)
class PersonAdmin(Operators, UserAdmin):  # type: ignore[type-arg]  # the same
    """People, and who of them is an operator; there are no other rights than these and the roles."""

    adds, changes = True, True
    actions = None
    list_display = ("username", "is_active", "is_staff", "last_login")
    list_filter = ("is_staff", "is_active")
    fieldsets = ((None, {"fields": ("username", "password", "email", "is_active", "is_staff")}),)
    filter_horizontal = ()
