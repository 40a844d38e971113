"""The source of GPU readings."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timezone

from astra.asking import Trouble
from astra.collect.dcgm.gpus import gpus
from astra.collect.dcgm.reading import Reader
from astra.collect.dcgm.whose import Holders, Reading, readings
from astra.collect.items import Item, Items, instant_text, now
from astra.collect.source import Put, SourceError

log = logging.getLogger("astra.collect")
INTERVAL_SECONDS = 30.0


class Dcgm:
    """Reads GPUs every `interval` seconds and tells of the workers whose they are."""

    def __init__(
        self, name: str, reader: Reader, holders: Callable[[], Holders], interval: float = INTERVAL_SECONDS
    ) -> None:
        self.name, self.reader, self.holders, self.interval = name, reader, holders, interval
        self.seeing = True
        self.troubles: set[str] = set()
        self.newest: dict[tuple[str, str], float] = {}
        self.nobody = -1

    def look(self) -> Items:
        """Return a reading of each worker. Raises SourceError."""
        try:
            holders = self.holders()
        except Trouble as trouble:
            raise SourceError(str(trouble)) from None
        at = now()
        made, nobody = readings(gpus(self.reader.read()), holders)
        self._say_nobody(nobody)
        fresh = [one for one in made if one.at > self.newest.get((one.holder.run, one.holder.worker), 0.0)]
        for one in fresh:
            self.newest[one.holder.run, one.holder.worker] = one.at
        alive = {(one.run, one.worker) for one in holders.all}
        self.newest = {key: when for key, when in self.newest.items() if key in alive}
        return Items(at, readings=tuple(map(item_of, fresh)))

    def run(self, put: Put, stop: threading.Event) -> None:
        """Read and put until `stop`; what is away is asked again at the next turn."""
        while True:
            try:
                put(self.look())
                self.seeing = True
                self._say(set(self.reader.troubles.values()))
            except SourceError as error:
                self.seeing = False
                self._say({str(error)})
            if stop.wait(self.interval):
                return

    def _say(self, troubles: set[str]) -> None:
        """Say each trouble when it begins, and that there is none any more."""
        for trouble in sorted(troubles - self.troubles):
            log.warning("%s", trouble)
        if self.troubles and not troubles:
            log.info("%s: all is read again.", self.name)
        self.troubles = troubles

    def _say_nobody(self, nobody: int) -> None:
        if nobody != self.nobody:
            log.info("%s: readings of %d GPUs are nobody's.", self.name, nobody)
            self.nobody = nobody


def item_of(reading: Reading) -> Item:
    """Return a reading in the words of the interface."""
    at = datetime.fromtimestamp(reading.at, timezone.utc)
    holder = reading.holder
    return {"run": holder.run, "worker": holder.worker, "at": instant_text(at), "gpu_busy": reading.busy}
