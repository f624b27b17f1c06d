"""The example of a stream: what comes is added exactly once, though the process dies where it hurts most."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROWS

import triview as tv

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)
pa = pytest.importorskip("pyarrow")

from pyarrow import parquet  # noqa: E402

ROOT = Path(__file__).parents[2]
BATCH = 1000

#: Runs the example; with a number, dies once the moments of that micro-batch are saved and before Spark knows that it is done.
SCRIPT = """
import os, pathlib, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{tests!r}, {examples!r}]
import spark_streaming
from clusters import spark_session
folder, die = pathlib.Path({folder!r}), {die!r}
said = spark_streaming.say
def say(number, total):
    said(number, total)
    if number == die:
        os.kill(os.getpid(), 9)
spark_streaming.say = say
spark = spark_session(folder / "spark", "local[1]")
spark_streaming.follow(spark, folder / "source", folder / "kept")
spark.stop()
"""


def follow(folder, die=None):
    script = SCRIPT.format(
        tests=str(Path(__file__).parent), examples=str(ROOT / "examples"), folder=str(folder), die=die
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == (0 if die is None else -9), done.stderr[-3000:]
    return [line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("batch")]


def test_every_row_is_added_once_across_a_restart(table, tmp_path):
    rows = pa.table(table)
    for name in ("source", "kept", "spark"):
        (tmp_path / name).mkdir()
    for at in range(0, ROWS, BATCH):
        file = tmp_path / "source" / f"{at:06}.parquet"
        parquet.write_table(rows.slice(at, BATCH), file)
        # Spark takes the oldest file first, and of files of one moment any.
        os.utime(file, (1_000_000 + at, 1_000_000 + at))
    assert follow(tmp_path, die=1) == ["batch 0", "batch 1"]
    # Spark gives the second micro-batch again, which is known already.
    assert follow(tmp_path) == ["batch 2"]
    (kept,) = (tmp_path / "kept").glob("upto-*.moments")
    found = tv.Moments.load(kept)
    assert found.rows == ROWS
    plan = tv.Plan.from_bytes((tmp_path / "kept" / "plan.json").read_bytes())
    expected = plan.accumulator().update(rows).finish()
    assert found.solve().risk == pytest.approx(expected.solve().risk, rel=1e-9)
    assert found.solve().standard_error == pytest.approx(expected.solve().standard_error, rel=1e-9)
