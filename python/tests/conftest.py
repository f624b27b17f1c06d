"""Data of which the truth is known, small enough for the whole suite to take a minute or two."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import triview as tv

ROWS = 3000
VIEWS = "abc"
PACKAGE = Path(tv.__file__).parent


def scores_of(table):
    """The scores of a simulated table with the axes (rows, views, classes)."""
    columns = table.to_dict()
    views = list(dict.fromkeys(name.split(":")[0] for name in columns if ":" in name))
    classes = list(dict.fromkeys(name.split(":")[1] for name in columns if ":" in name))
    return np.stack(
        [np.stack([columns[f"{view}:{name}"] for name in classes], axis=1) for view in views], axis=1
    )


def by_view(scores):
    """The same as one array a view."""
    return {view: scores[:, at] for at, view in enumerate(VIEWS)}


def bits(answer, *, views=True):
    """All of an answer but where it came from, and, where they are numbered, the names of the views."""
    answer = answer if isinstance(answer, dict) else answer.to_dict()
    found = {key: value for key, value in answer.items() if key != "inputs"}
    if views:
        return found
    return {
        key: found[key] for key in ("risk", "standard_error", "interval", "error_rate", "class_prior", "rows")
    }


def run(*arguments, cwd=None, status=(0,), **options):
    """Run Python with this package, warnings being errors."""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=120, check=False, **options
    )
    assert done.returncode in status, done.stderr
    return done


def triview(*arguments, cwd=None, status=(0,)):
    """Run the command line."""
    return run("-m", "triview", *arguments, cwd=cwd, status=status)


@pytest.fixture(scope="session")
def simulation():
    return tv.simulate(preset="three", rows=ROWS)


@pytest.fixture(scope="session")
def table(simulation):
    return simulation.table


@pytest.fixture(scope="session")
def scores(table):
    array = scores_of(table)
    array.flags.writeable = False
    return array


@pytest.fixture(scope="session")
def labels(table):
    return list(table["label"])


@pytest.fixture(scope="session")
def answer(table):
    return tv.estimate(table)


@pytest.fixture(scope="session")
def frame(table):
    """The same in pandas."""
    pytest.importorskip("pandas")
    return table.to_pandas()


@pytest.fixture(scope="session")
def dependent():
    """Two views of which share their noise in half of the rows: an answer that is not to be trusted."""
    return tv.simulate(preset="three", rows=ROWS, shared=0.5).table


@pytest.fixture(scope="session")
def crowd():
    return tv.simulate(crowd=True, rows=600, annotators=15, seed=1).table


@pytest.fixture(scope="session")
def chains():
    return tv.simulate(hmm=True, sequences=1000, classes=3, longest=40)


@pytest.fixture(scope="session")
def model(scores, labels):
    return tv.train(by_view(scores), label=labels, epochs=2)


@pytest.fixture(scope="session")
def moments(scores):
    return tv.plan(scores).accumulator().update(scores).finish()


@pytest.fixture(scope="session")
def files(table, tmp_path_factory):
    """The table in files: the whole, and its two parts."""
    folder = tmp_path_factory.mktemp("files")
    write_csv(folder / "all.csv", table.to_dict())
    half = {name: values[:1000] for name, values in table.to_dict().items()}
    rest = {name: values[1000:] for name, values in table.to_dict().items()}
    write_csv(folder / "first.csv", half)
    write_csv(folder / "second.csv", rest)
    return folder


def write_csv(path, columns):
    """Write columns such that numbers keep their bits; what is None is missing."""
    rows = zip(*(list(values) for values in columns.values()), strict=True)
    lines = [",".join(_quoted(name) for name in columns)]
    lines += [
        ",".join("" if value is None or value != value else _quoted(value) for value in row) for row in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _quoted(value):
    text = repr(float(value)) if isinstance(value, float | np.floating) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text


@pytest.fixture
def no_pyarrow(monkeypatch):
    """An environment in which pyarrow is not installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
