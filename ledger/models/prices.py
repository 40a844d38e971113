"""What a GPU-hour costs."""

from django.db import models
from django.db.models import Q

from ledger.models.fleet import Pool


class Price(models.Model):
    """The price of a GPU-hour held in a pool from the UTC midnight `since` on, in millionths of the currency."""

    pk = models.CompositePrimaryKey("pool_id", "since")
    pool = models.ForeignKey(Pool, models.CASCADE)
    since = models.DateTimeField()
    micros = models.BigIntegerField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(micros__gte=0), name="price_not_negative")]
