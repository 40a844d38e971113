"""The database's clock beside true time: it steps, drifts, swings, is noisy, or jumps for hours and comes back."""

from random import Random

from tests.simulation.world import HOUR, MINUTE, SECOND

ERROR_MAX = 100 * SECOND
SHAPES = ("true", "step", "drift", "swing", "noise", "jump")


class VirtualClock:
    """`read` gives the clock at a true instant (ms). But for jumps it is never more than ERROR_MAX wrong."""

    def __init__(self, rng: Random, start: int, end: int) -> None:
        self.rng, self.start, self.end = rng, start, end
        self.shape = rng.choice(SHAPES)
        self.size = rng.randint(-ERROR_MAX, ERROR_MAX)
        self.at = rng.randint(start + 20 * MINUTE, end)
        self.jump = rng.choice((-1, 1)) * rng.choice((11 * MINUTE, HOUR, 5 * HOUR))

    @property
    def jumps(self) -> tuple[int, int]:
        """When it is hours off: shorter than it takes to be believed."""
        return (self.at, self.at + 40 * SECOND) if self.shape == "jump" else (0, 0)

    def read(self, true: int) -> int:
        match self.shape:
            case "step":
                return true + (self.size if true >= self.at else 0)
            case "drift":
                return true + self.size * max(0, min(true, self.end) - self.start) // (self.end - self.start)
            case "swing":
                return true + abs(true % (20 * MINUTE) - 10 * MINUTE) * self.size // (10 * MINUTE)
            case "noise":
                return true + self.rng.randint(-3 * SECOND, 3 * SECOND)
            case "jump" if self.jumps[0] <= true < self.jumps[1]:
                return true + self.jump
        return true
