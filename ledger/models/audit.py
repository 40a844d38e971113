"""What was changed about who may do what, and by whom."""

from django.db import models
from django.db.models.functions import Now


class Change(models.Model):
    """A change that matters to security. Names stand as text: they outlive what they name. Nothing changes a row."""

    at = models.DateTimeField(db_default=Now())
    actor = models.CharField(max_length=253)
    what = models.CharField(max_length=32)
    organization = models.CharField(max_length=253, default="")
    detail = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["organization", "at"], name="change_recent")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor}: {self.what}"
