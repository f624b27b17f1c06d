"""The page of all names is what the docstrings say."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "api_page.py"


def test_the_page_is_the_docstrings():
    for needed in ("sklearn", "pyspark", "dask"):
        pytest.importorskip(needed)
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
