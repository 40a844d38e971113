"""Tokens of the interface: what a program shows to be let in."""

import secrets
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac
from knox.models import AbstractAuthToken
from knox.settings import CONSTANTS

from ledger.models.tenancy import Organization, Workspace

SCOPES = ("read", "metrics", "ingest", "admin")
DAYS_MAX = 3_650
PREFIX = "goodput_"
_RANDOM_BYTES = 32


def digest_of(plain: str) -> str:
    """Return the keyed hash that is kept of a token: HMAC-SHA-512 under the installation's SECRET_KEY, hexadecimal."""
    return salted_hmac("ledger.Token", plain, algorithm="sha512").hexdigest()


class Bucket(models.Model):
    """How many somebody has taken of what they may, until `until`. Lost in a crash, and no harm."""

    key = models.CharField(max_length=64, primary_key=True)
    spent = models.IntegerField()
    until = models.DateTimeField()


class Token(AbstractAuthToken):  # type: ignore[misc]  # knox has no types
    """A token bound to an organization or to one workspace of it. It is no person's, and its text is not kept.

    `token_key` are its first characters, to tell tokens apart by; `expiry` null = it does not expire.
    """

    user = None
    organization = models.ForeignKey(Organization, models.CASCADE)
    workspace = models.ForeignKey(Workspace, models.CASCADE, null=True)
    scopes = ArrayField(models.CharField(max_length=16))

    objects = models.Manager["Token"]()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=list(SCOPES)) & Q(scopes__len__gte=1), name="token_scopes"
            )
        ]

    def __str__(self) -> str:
        return f"{self.token_key}…"

    @classmethod
    def issue(
        cls, organization: Organization, workspace: Workspace | None, scopes: list[str], days: int | None = None
    ) -> tuple["Token", str]:
        """Make a token and return it with its text, which nobody can read again; `days` None = it does not expire.

        Raises ValueError for a scope there is not, a workspace of another organization, or days out of bounds.
        """
        unknown = [scope for scope in scopes if scope not in SCOPES]
        if unknown or not scopes:
            raise ValueError(f"scopes are one or more of {', '.join(SCOPES)}")
        if workspace is not None and workspace.organization_id != organization.pk:
            raise ValueError("the workspace is not one of the organization")
        if days is not None and not 1 <= days <= DAYS_MAX:
            raise ValueError(f"days must be from 1 to {DAYS_MAX}")
        plain = PREFIX + secrets.token_hex(_RANDOM_BYTES)
        with transaction.atomic():
            token = cls.objects.create(
                digest=digest_of(plain),
                token_key=plain[: CONSTANTS.TOKEN_KEY_LENGTH],
                organization=organization,
                workspace=workspace,
                scopes=[scope for scope in SCOPES if scope in scopes],
                expiry=None if days is None else Now() + timedelta(days=days),
            )
        token.refresh_from_db()
        return token, plain
