#!/usr/bin/env python3
"""What wide tables and many segments cost.

    cargo build --release -p triview-cli
    python scripts/bench_wide.py [--data DIR] [--only adapt,label,columns,segments]

- adapt: 5,945 rows of 5,000 features that are mostly zeros, two classes, at most a twentieth of the 7.7 minutes of processor that it took while zeros
  were held; a ball far too large for the rows ends. With --data DIR the rows are those of `amazon-source.parquet` and `amazon-target.parquet` there, else simulated.
- label: 100,000 rows with 1,000 other columns, Parquet to Parquet, at most three times the processor time of pyarrow reading and writing the
  file, and under 500 MB.
- columns: 100,000 other columns, Parquet and CSV, estimated and labelled: within a minute each.
- segments: too many are refused in a tenth of the time of an answer and under 500 MB; 2,000 of three classes are answered, under 1 GB.

Prints a Markdown table; exits with 1 where a target is missed. Processor time of one thread, one run each.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Bench:
    """Runs commands and keeps whether targets are met."""

    def __init__(self, triview: Path) -> None:
        self.triview, self.missed = str(triview), False

    def run(self, *command: object) -> tuple[float, float, int]:
        """Processor seconds, peak memory in MB, and how it ended."""
        arguments = [str(part) for part in command]
        null = os.open(os.devnull, os.O_WRONLY)
        actions = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
        pid = os.posix_spawnp(arguments[0], arguments, os.environ, file_actions=actions)
        _, status, used = os.wait4(pid, 0)
        os.close(null)
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)

    def answer(self, *arguments: object) -> tuple[float, float]:
        """Processor seconds and peak memory of a command of triview that answers."""
        seconds, memory, code = self.run(self.triview, *arguments, "--quiet", "--threads", 1)
        if code not in (0, 1):
            sys.exit(f"`triview {' '.join(str(part) for part in arguments)}` ended with {code}")
        return seconds, memory

    def line(self, what: str, measured: str, target: str, met: bool = True) -> None:
        self.missed |= not met
        print(f"| {what} | {measured} | {target} |", flush=True)


def apart(function: Callable, *arguments: object) -> None:
    """Run it in a process of its own: what this one has held counts for all that it starts."""
    process = multiprocessing.get_context("spawn").Process(target=function, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        sys.exit("the data could not be made")


def make_bags(path: Path, rows: int, features: int, seed: int) -> None:
    """Bags of words of two classes, one column a word, dealt to three views."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    label = rng.integers(2, size=rows)
    often = (np.arange(features) + 30.0) ** -0.9
    lean = np.random.default_rng(1).normal(0, 0.5, features)
    words = rng.random((rows, features)) < 60 * often / often.sum() * np.exp(lean * (2 * label[:, None] - 1))
    columns = {f"{'abc'[word % 3]}:w{word}": words[:, word].astype(np.float32) for word in range(features)}
    pq.write_table(pa.table({**columns, "label": label}), path)


def make_wide(scores: Path, wide: Path) -> None:
    """Add a thousand columns of random numbers."""
    import numpy as np
    import pyarrow.parquet as pq

    table, rng = pq.read_table(scores), np.random.default_rng(1)
    for column in range(1_000):
        table = table.append_column(f"column {column}", [rng.normal(size=len(table))])
    pq.write_table(table, wide)


def make_many(scores: Path, many: Path) -> None:
    """Add a hundred thousand columns, in Parquet and CSV."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    table = pq.read_table(scores)
    others = [pa.array(np.zeros(len(table), np.int64))] * 100_000
    names = [*table.column_names, *(f"column {column}" for column in range(100_000))]
    table = pa.table([*table.columns, *others], names=names)
    pq.write_table(table, many.with_suffix(".parquet"))
    pyarrow.csv.write_csv(table, many.with_suffix(".csv"))


def make_shops(scores: Path, many: Path, alone: Path) -> None:
    """Add a column of 2,000 values, and one of as many values as rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, rng = pq.read_table(scores), np.random.default_rng(1)
    pq.write_table(table.append_column("shop", pa.array(rng.integers(2_000, size=len(table)))), many)
    pq.write_table(table.append_column("shop", pa.array(np.arange(len(table)))), alone)


def scores(bench: Bench, folder: Path, rows: int) -> Path:
    """Scores of three views and three classes."""
    path = folder / "scores.parquet"
    bench.answer("simulate", "--preset", "three", "--rows", rows, "-o", path)
    return path


def adapt(bench: Bench, folder: Path, data: Path | None) -> None:
    source, target = folder / "source.parquet", folder / "target.parquet"
    if data is None:
        apart(make_bags, source, 6_465, 5_000, 1)
        apart(make_bags, target, 5_945, 5_000, 2)
    else:
        source, target = data / "amazon-source.parquet", data / "amazon-target.parquet"
    seed, model = folder / "seed.safetensors", folder / "adapted.safetensors"
    bench.answer("train", source, "--label", "label", "-o", seed)
    seconds, memory = bench.answer("adapt", target, "--model", seed, "-o", model)
    bench.line("`adapt`, 5,945 rows of 5,000 features", f"{seconds:.1f} s, {memory:.0f} MB", "23.1 s", seconds <= 23.1)
    seconds, memory = bench.answer("adapt", target, "--model", seed, "-o", model, "--radius", 1_000_000, "--no-judgement")
    bench.line("`adapt --radius 1000000 --no-judgement`", f"{seconds:.1f} s, {memory:.0f} MB", "60 s", seconds <= 60)


def label(bench: Bench, folder: Path, _data: Path | None) -> None:
    wide, out = folder / "wide.parquet", folder / "labels.parquet"
    apart(make_wide, scores(bench, folder, 100_000), wide)
    copy = "import sys, pyarrow.parquet as pq; pq.write_table(pq.read_table(sys.argv[1], use_threads=False), sys.argv[2])"
    beside, held, _ = bench.run(sys.executable, "-c", copy, wide, folder / "copy.parquet")
    seconds, memory = bench.answer("label", wide, "-o", out)
    bench.line("pyarrow reads and writes 1,000 columns of 100,000 rows", f"{beside:.1f} s, {held:.0f} MB", "")
    measured = f"{seconds:.1f} s, {seconds / beside:.2f} times, {memory:.0f} MB"
    bench.line("`label` of them, Parquet to Parquet", measured, "3 times, 500 MB", seconds <= 3 * beside and memory < 500)


def columns(bench: Bench, folder: Path, _data: Path | None) -> None:
    apart(make_many, scores(bench, folder, 1_000), folder / "many")
    for ending in ("parquet", "csv"):
        for what, more in (("estimate", []), ("label", ["-o", folder / f"labels.{ending}"])):
            seconds, memory = bench.answer(what, folder / f"many.{ending}", *more)
            what = f"`{what}`, 1,000 rows with 100,000 other columns, {ending}"
            bench.line(what, f"{seconds:.1f} s, {memory:.0f} MB", "60 s", seconds <= 60)


def segments(bench: Bench, folder: Path, _data: Path | None) -> None:
    rows, many, alone = 2_000_000, folder / "many.parquet", folder / "alone.parquet"
    apart(make_shops, scores(bench, folder, rows), many, alone)
    plain, held = bench.answer("estimate", many)
    bench.line(f"`estimate` of {rows:,} rows", f"{plain:.1f} s, {held:.0f} MB", "")
    seconds, memory, code = bench.run(bench.triview, "estimate", alone, "--by", "shop", "--quiet", "--threads", 1)
    met = code == 2 and seconds <= 0.1 * plain and memory < 500
    measured = f"{seconds:.2f} s, {memory:.0f} MB"
    bench.line(f"`estimate --by` a column of {rows:,} values is refused", measured, "a tenth of that, 500 MB", met)
    seconds, memory = bench.answer("estimate", many, "--by", "shop", "--json")
    bench.line("`estimate --by` a column of 2,000 values, three classes", f"{seconds:.0f} s, {memory:.0f} MB", "1,000 MB", memory < 1_000)


def main() -> int:
    """Measure what is asked for and say whether it is as it should be."""
    parts = {"adapt": adapt, "label": label, "columns": columns, "segments": segments}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--triview", default=ROOT / "target/release/triview", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", default=",".join(parts), type=lambda text: text.split(","))
    asked = parser.parse_args()
    bench = Bench(asked.triview)
    print("| what | measured | target |\n|---|---|---|")
    for name in asked.only:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](bench, Path(folder), asked.data)
    return int(bench.missed)


if __name__ == "__main__":
    sys.exit(main())
