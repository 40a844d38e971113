"""An item that was decoded can be sent again, in the words of the interface."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ledger.core.categories import REASONS, Phase
from ledger.decode import decode
from ledger.decode.again import as_sent
from ledger.decode.values import iso
from tests.api.bodies import ITEMS, JSON, as_json

INSTANTS = st.integers(946_684_800_000, 4_133_980_799_999).map(iso)
THOUSANDTHS = st.integers(0, 4_096_000).map(lambda n: n / 1000)
NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=5)
OPTIONAL: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "machines": {"pool": NAMES, "gpus": THOUSANDTHS, "ready": st.booleans()},
    "runs": {"workspace": NAMES, "user": NAMES, "submitted_at": INSTANTS, "ended_at": INSTANTS, "outcome": NAMES},
    "workers": {
        "phase": st.sampled_from([phase.label for phase in Phase if phase]),
        "attempt": st.integers(1, 9),
        "gpus": THOUSANDTHS,
        "machine": NAMES,
        "pool": NAMES,
        "stalled": st.booleans(),
    },
    "readings": {"gpu_busy": st.integers(0, 100_000).map(lambda n: n / 1000), "step": st.integers(0, 2**53 - 1)},
}


@given(st.data(), st.sampled_from(sorted(ITEMS)))
def test_decoding_it_again_gives_the_same_item(data: st.DataObject, name: str) -> None:
    needed = {key: ITEMS[name][key] for key in ("name", "uid", "run", "worker", "at") if key in ITEMS[name]}
    if name == "runs":
        del needed["name"]
    item = needed | data.draw(st.fixed_dictionaries({}, optional=OPTIONAL[name]))
    if "phase" in item:
        item["reason"] = data.draw(st.sampled_from(REASONS))
    if "step" in item:
        item |= {"doing": "evaluation", "step_seconds": 5.125, "from": "2026-10-01T11:00:00.001Z"}
    decoded = getattr(decode(as_json(**{name: [item]}), JSON), name)
    sent = as_sent(decoded[0])
    assert getattr(decode(as_json(**{name: [sent]}), JSON), name) == decoded
    assert set(sent) == set(item)
