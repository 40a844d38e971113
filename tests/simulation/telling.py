"""Alerts of a simulated cluster, and who was told of them: everything at least once, never two open of one subject."""

from collections import Counter

from django.db.models import Count
from django.db.models.functions import Now

from ledger.models import Alert, Channel, Cluster, Delivery, Workspace
from ledger.notify import outbox
from ledger.notify.message import Message, NotSent, Setup

ARRIVED: Counter[str] = Counter()  # by the key of the delivery, which is nobody else's


class Telling:
    """One cluster's. The outbox is that of all, so whoever sends may send another one's."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        workspace = Workspace.objects.create(organization=cluster.organization, name="operations")
        self.channel = Channel.objects.create(workspace=workspace, kind="webhook", name="all", target="", clusters=True)

    def send(self, *, fails: bool, answers: bool) -> None:
        """Send what has been due longest; what others claimed and left is due again, for time has passed."""

        def arrive(target: str, secret: str, message: Message, setup: Setup) -> None:
            if fails:
                raise NotSent("nobody is there")
            ARRIVED[message.key] += 1
            if not answers:
                raise NotSent("nobody answered")

        Delivery.objects.filter(sent_at=None, dead_at=None).update(leased_until=None, due_at=Now())
        before = outbox.SENDERS["webhook"]
        outbox.SENDERS["webhook"] = arrive
        try:
            outbox.send_one(Setup())
        finally:
            outbox.SENDERS["webhook"] = before

    def prove(self, *, all_of_it: bool) -> set[str]:
        """Prove what must hold at any time, and at the end also that nothing waits for ever; return marks."""
        alerts = Alert.objects.filter(cluster=self.cluster, workspace=None)  # those that the channel is to tell
        two = alerts.filter(resolved_at=None).values("rule", "subject").annotate(many=Count("pk")).filter(many__gt=1)
        assert not list(two), "two alerts of one subject are open"
        deliveries = Delivery.objects.filter(channel=self.channel)
        while all_of_it and deliveries.filter(sent_at=None, dead_at=None).exists():
            self.send(fails=False, answers=True)
        fired = set(deliveries.filter(event="firing").values_list("alert", flat=True))
        assert fired == set(alerts.values_list("pk", flat=True)), "an alert has nothing in the outbox"
        over = set(deliveries.filter(event="resolved").values_list("alert", flat=True))
        assert over == set(alerts.exclude(resolved_at=None).values_list("pk", flat=True)), "nobody hears of an end"
        for one in deliveries.exclude(sent_at=None):
            assert ARRIVED[str(one.key)], "said to be sent, and never was"
        for one in deliveries.exclude(dead_at=None):
            assert one.attempts >= outbox.ATTEMPTS_MAX, "given up too early"
        return self._marks(alerts.count(), bool(over), Counter(alerts.values_list("rule", "subject")))

    def _marks(self, alerts: int, is_over: bool, subjects: Counter[tuple[str, str]]) -> set[str]:
        keys = map(str, Delivery.objects.filter(channel=self.channel).values_list("key", flat=True))
        times = [ARRIVED[key] for key in keys]
        found = {
            "an alert is told": any(times),
            "an alert is told twice": any(many > 1 for many in times),
            "an alert is over": is_over,
            "two alerts of one subject": any(many > 1 for many in subjects.values()),
        }
        return {mark for mark, hit in found.items() if hit}
