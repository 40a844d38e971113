"""Processes that stay do not look for garbage in what stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from goodput_site.garbage import OBJECTS_NEW

LOOK = "import gc; print(gc.get_threshold()[0], gc.get_freeze_count() > 10_000)"


@pytest.mark.parametrize(
    "begin",
    [
        "import goodput_site.wsgi",
        "import django; from goodput_site.celery import begin_in_the_pool; django.setup(); begin_in_the_pool()",
    ],
)
def test_a_process_that_stays_looks_seldom_for_garbage(begin: str, tmp_path: Path) -> None:
    environment = {**os.environ, "GOODPUT_STATE": str(tmp_path), "DJANGO_SETTINGS_MODULE": "goodput_site.settings"}
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}; {LOOK}"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(OBJECTS_NEW), "True"]
