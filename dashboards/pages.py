"""Which rows of how many are on a page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pages:
    """Page `page` (from 1) of `count` rows, `rows` on each."""

    count: int
    page: int
    rows: int

    @property
    def last(self) -> int:
        return max(-(-self.count // self.rows), 1)

    @property
    def first_row(self) -> int:
        return (self.page - 1) * self.rows + 1

    @property
    def last_row(self) -> int:
        return min(self.page * self.rows, self.count)

    @property
    def previous(self) -> int | None:
        return min(self.page - 1, self.last) or None

    @property
    def next(self) -> int | None:
        return self.page + 1 if self.page < self.last else None
