"""How often long-lived processes look for garbage."""

import gc

OBJECTS_NEW = 50_000


def collect_seldom() -> None:
    """Look for garbage less often, and never again in what is there by now.

    A batch of observations makes a hundred thousand small objects that all go with it. By default each 700 of them
    begin a collection, and some of these look at all of Django: a third of the time that a batch took.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_NEW)
