"""What people are and bring along: how they like to read pages, and invitations into workspaces."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.tenancy import Organization, Workspace


class Viewer(models.Model):
    """How a person reads pages; `zone` is an IANA name, "" = UTC."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True)
    zone = models.CharField(max_length=64, default="")


class Invitation(models.Model):
    """Lets one person in, once: as a member of `workspace`, or where that is null as an admin of the organization.

    Its text is not kept, only a keyed hash of it.
    """

    digest = models.CharField(max_length=128, unique=True)
    organization = models.ForeignKey(Organization, models.CASCADE)
    workspace = models.ForeignKey(Workspace, models.CASCADE, null=True)
    made_by = models.CharField(max_length=253)
    made_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.CharField(max_length=253, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used_at__isnull=True, used_by="") | Q(used_at__isnull=False) & ~Q(used_by=""),
                name="invitation_used_by",
            )
        ]

    def __str__(self) -> str:
        return self.organization.name if self.workspace is None else str(self.workspace)
