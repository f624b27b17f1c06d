"""Every Python block of the pages is run, and so are the examples of docstrings."""

import doctest
import importlib
import re
import warnings
from pathlib import Path

import pytest
from conftest import PACKAGE

import triview as tv

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/python.md", "docs/report.md", "docs/scale.md"]
#: What a page may use that is not always installed.
OPTIONAL = ("pandas", "polars", "pyarrow", "duckdb", "sklearn", "scipy", "matplotlib", "torch", "dask")

#: What modules need that are not always there.
NEEDED = {
    "sklearn": ("sklearn",),
    "spark": ("pyspark", "pyarrow"),
    "dask": ("dask", "pyarrow"),
    "_parts": ("pyarrow",),
    "_rows": ("pyarrow",),
    "_crowd": ("pyarrow",),
}

pytestmark = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the pages are not here")


def blocks(page):
    """The blocks of Python on a page, each with the line that it begins on."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in re.finditer(
        r"^```python(?P<notest> notest)?\n(?P<code>.*?)^```$", text, re.MULTILINE | re.DOTALL
    ):
        if not match["notest"]:
            yield text.count("\n", 0, match.start("code")), match["code"]


def missing(code):
    used = re.findall(
        rf"^\s*(?:import|from)\s+({'|'.join(OPTIONAL)}|triview\.sklearn|triview\.dask)\b", code, re.MULTILINE
    )
    found = []
    for name in used:
        try:
            importlib.import_module(name)
        except ImportError:
            found.append(name)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch):
    if not (ROOT / page).exists():
        pytest.skip("no such page")
    found = list(blocks(page))
    absent = missing("\n".join(code for _, code in found))
    if absent:
        pytest.skip(f"needs {', '.join(absent)}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace = {"__name__": "__main__"}
    for line, code in found:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # The line in a traceback is that of the page.
            exec(compile("\n" * line + code, str(ROOT / page), "exec"), namespace)


def test_the_tutorial_has_blocks():
    assert len(list(blocks("docs/python.md"))) > 5


@pytest.mark.parametrize(
    "module", sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__main__")
)
def test_docstrings(module, tmp_path, monkeypatch):
    for needed in NEEDED.get(module, ()):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    held = tv if module == "__init__" else importlib.import_module(f"triview.{module}")
    failed, tried = doctest.testmod(held)
    assert failed == 0
    assert module != "__init__" or tried > 0
