#!/usr/bin/env python3
"""What a store costs: adding ten million rows beside `triview moments` of the same file, to a new store and to one that has its plan, and showing
500 periods again.

    cargo build --release -p triview-cli
    python scripts/bench_monitor.py

Prints a Markdown table; exits with 1 where a target is missed. Processor time of one thread, the least of three runs, in one run of this script.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make(path: Path, triview: Path, rows: int, periods: int, preset: str, week: int = 0) -> None:
    """Write rows with a column of times that go through so many weeks, from one of them on."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = path.with_suffix(".plain.parquet")
    subprocess.run([triview, "simulate", "--preset", preset, "--rows", str(rows), "-o", plain, "--seed", str(week), "--quiet"], check=True)
    table = pq.read_table(plain)
    seconds = np.datetime64("2016-01-04", "s").astype("int64") + week * 7 * 86_400 + np.arange(rows) * (7 * 86_400 * periods) // rows
    times = pa.array(seconds * 1_000_000, pa.timestamp("us"))
    pq.write_table(table.append_column("when", times), path)
    plain.unlink()


def processor(command: list) -> float:
    """Run it and say how many seconds of the processor it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Measure both and say whether they are as they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triview", default=ROOT / "target/release/triview", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--periods", type=int, default=500)
    asked = parser.parse_args()
    one = ["--quiet", "--threads", "1"]
    print("| what | seconds | target |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        big, later, store = folder / "big.parquet", folder / "later.parquet", folder / "big.store"
        make(big, asked.triview, asked.rows, 1, "three")
        make(later, asked.triview, asked.rows, 1, "three", week=1)
        summed, added, added_later = [], [], []
        for _ in range(3):
            store.unlink(missing_ok=True)
            summed.append(processor([asked.triview, "moments", big, "-o", folder / "big.moments", *one]))
            added.append(processor([asked.triview, "monitor", store, "--add", big, "--time", "when", "--period", "week", *one]))
            added_later.append(processor([asked.triview, "monitor", store, "--add", later, *one]))
        ratio, ratio_later = min(added) / min(summed), min(added_later) / min(summed)
        print(f"| `moments` of {asked.rows:,} rows | {min(summed):.2f} | |")
        print(f"| `monitor --add` of the same to a new store, with the period's answer | {min(added):.2f}, {ratio:.2f} times | 1.1 times |")
        print(f"| of as many of the week after | {min(added_later):.2f}, {ratio_later:.2f} times | 1.1 times |")
        many, store = folder / "many.parquet", folder / "many.store"
        make(many, asked.triview, 2_000 * asked.periods, asked.periods, "ten")
        subprocess.run(
            [asked.triview, "monitor", store, "--add", many, "--time", "when", "--period", "week", "--quiet"],
            check=False,
            stdout=subprocess.DEVNULL,
        )
        shown = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([asked.triview, "monitor", store, "--quiet"], check=False, stdout=subprocess.DEVNULL)
            shown.append(time.perf_counter() - start)
        size = store.stat().st_size / asked.periods / 1e6
    print(f"| {asked.periods} periods of ten classes, shown again ({size:.1f} MB a period) | {min(shown):.2f} | 1 |")
    return int(max(ratio, ratio_later) > 1.1 or min(shown) > 1.0)


if __name__ == "__main__":
    sys.exit(main())
