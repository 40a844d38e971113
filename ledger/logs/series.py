"""A bounded picture of a run: every so many points of its steps, fewer the longer it is."""

from dataclasses import dataclass, field

POINTS_MAX = 512
Point = list[int | None]


@dataclass(slots=True)
class Series:
    """Points in order; of the points given each `stride`-th is kept, which doubles when there are too many."""

    points: list[Point] = field(default_factory=list)
    stride: int = 1
    given: int = 0

    def add(self, *point: int | None) -> None:
        if self.given % self.stride == 0:
            self.points.append(list(point))
            if len(self.points) > POINTS_MAX:
                self.points = self.points[::2]
                self.stride *= 2
        self.given += 1
