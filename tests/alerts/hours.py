"""Final hours of a cluster, written as they are: what was held in each, and how much of it was productive."""

from ledger.alerts import Evaluated, evaluate
from ledger.core.windows import HOUR
from ledger.models import Cluster, LedgerHour, Machine, Pool, Run, Workspace
from tests.evidence import Settings
from tests.postgres_world import make_cluster, moment
from tests.worlds import DAY, MONDAY

GPU_HOUR = 3_600_000_000
LATER = 15 * 60_000  # when an hour has long been final


class Judged:
    """A cluster whose hours a test writes; the first is MONDAY's, `hour` counts from there."""

    def __init__(self) -> None:
        self.cluster = make_cluster(Settings(), MONDAY)
        organization = self.cluster.organization
        self.workspace = Workspace.objects.create(organization=organization, name="vision")
        self.pool = Pool.objects.create(cluster=self.cluster, name="h100")
        self.machine = Machine.objects.create(cluster=self.cluster, name="gpu-1", pool=self.pool)
        self.run = Run.objects.create(cluster=self.cluster, workspace=self.workspace, uid="r", name="llm")
        Cluster.objects.filter(pk=self.cluster.pk).update(judged_to=moment(MONDAY))

    def write(self, hour: int, held: int, productive: int, unobserved: int = 0) -> None:
        """Write an hour, in GPU-microseconds; what was not productive was idle."""
        if held:
            LedgerHour.objects.update_or_create(
                cluster=self.cluster,
                hour=moment(MONDAY + hour * HOUR),
                run=self.run,
                machine=self.machine,
                pool=self.pool,
                defaults={
                    "productive": productive or None,
                    "idle": held - productive or None,
                    "unobserved": unobserved or None,
                },
            )

    def day(self, share: float = 0.9, held: int = 10 * GPU_HOUR) -> None:
        """Write the first 24 hours."""
        productive = round(held * share)
        LedgerHour.objects.bulk_create(
            LedgerHour(
                cluster=self.cluster, hour=moment(MONDAY + hour * HOUR), run=self.run, machine=self.machine,
                pool=self.pool, productive=productive or None, idle=held - productive or None,
            )
            for hour in range(24)
        )  # fmt: skip

    def final(self, hours: int) -> Evaluated:
        """Let the first `hours` hours be final, and evaluate."""
        return self.evaluate(self.set_final(hours))

    def set_final(self, hours: int) -> int:
        """Let the first `hours` hours be final, counted and pruned of late, and return an instant after them."""
        now = MONDAY + hours * HOUR + LATER
        Cluster.objects.filter(pk=self.cluster.pk).update(
            final_to=moment(MONDAY + hours * HOUR), open_hour=moment(MONDAY + hours * HOUR),
            counted_until=moment(now), pruned_at=moment(now),
        )  # fmt: skip
        return now

    def evaluate(self, now: int) -> Evaluated:
        return evaluate(self.cluster.pk, now=now)


NOW = MONDAY + DAY
