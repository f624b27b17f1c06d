"""Times a whole two-pass estimate from a Parquet file beside pyarrow's mere reading of the same file.

    cargo build --release -p triview-cli
    python scripts/bench_end_to_end.py

Prints a Markdown table; exits with 1 where a target is missed. Needs some 2.5 GB of memory (for pyarrow, which holds the whole table) and 1.4 GB of
disk at the default ten million rows.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VIEWS = ("a", "b", "c")
CLASSES = 10
ROW_GROUP = 1 << 20  # what pyarrow.parquet.write_table makes by default
SMALL = 10_000


def make(path: Path, rows: int) -> None:
    """Writes scores that a linear model gives ten overlapping classes with Laplace noise, float32, snappy."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    means = {view: rng.normal(0, 1.1, (CLASSES, CLASSES)) for view in VIEWS}
    model = {view: mean + rng.normal(0, 0.2, mean.shape) for view, mean in means.items()}
    names = [f"{view}:{c}" for view in VIEWS for c in range(CLASSES)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for start in range(0, rows, ROW_GROUP):
            count = min(ROW_GROUP, rows - start)
            labels = rng.integers(CLASSES, size=count)
            columns = []
            for view in VIEWS:
                x = means[view][labels] + rng.laplace(0, 0.5**0.5, (count, CLASSES))
                scores = x @ model[view].T - (model[view] ** 2).sum(axis=1) / 2
                columns += list(scores.astype(np.float32).T)
            writer.write_table(pa.table(columns, schema=schema))


def read(path: Path, threads: int) -> None:
    """Prints the seconds that pyarrow takes to read the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(threads)
    start = time.perf_counter()
    pq.read_table(path)
    print(time.perf_counter() - start)


def in_child(*arguments: object) -> str:
    """Runs a part of this script in a process of its own.

    Linux counts the memory that a process had before `exec` towards the peak of the program it then runs, so
    this process must stay small for triview's peak to be triview's.
    """
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def estimate(binary: Path, path: Path, threads: int) -> tuple[float, float, float, dict]:
    """Wall seconds, CPU seconds, peak megabytes and the answer of `triview estimate`."""
    command = [binary, "estimate", path, "--json", "--quiet", "--threads", str(threads)]
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"bench_end_to_end.py: triview could not answer (exit {child.returncode})")
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return wall, usage.ru_utime + usage.ru_stime, kilobytes / 1024, json.loads(output)


def run(arguments: argparse.Namespace) -> None:
    if not arguments.binary.exists():
        sys.exit(f"bench_end_to_end.py: no {arguments.binary}: cargo build --release -p triview-cli")
    with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
        large, small = Path(folder, "large.parquet"), Path(folder, "small.parquet")
        in_child("--make", large, "--rows", arguments.rows)
        in_child("--make", small, "--rows", SMALL)
        in_child("--read", large, "--threads", arguments.threads)  # warms the cache

        reads, walls, peaks = [], [], []
        for _ in range(arguments.repetitions):
            reads.append(float(in_child("--read", large, "--threads", arguments.threads)))
            wall, _, peak, answer = estimate(arguments.binary, large, arguments.threads)
            walls.append(wall)
            peaks.append(peak)
        cpu = [estimate(arguments.binary, small, 1)[1] for _ in range(arguments.repetitions)]
        size = large.stat().st_size / 1e9

    reading, whole = statistics.median(reads), statistics.median(walls)
    error = f" +- {answer['standard_error']:.4f}" if "standard_error" in answer else ""
    print(f"{arguments.rows:,} rows, {len(VIEWS)} views, {CLASSES} classes, float32, snappy, {size:.2f} GB,")
    print(
        f"{arguments.threads} threads, medians of {arguments.repetitions}; risk {answer['risk']:.4f}{error}."
    )
    print()
    print("| | measured | target |")
    print("|---|---|---|")
    print(f"| pyarrow reads the file | {reading:.2f} s | |")
    print(f"| triview estimates from it | {whole:.2f} s | |")
    print(f"| ratio | {whole / reading:.1f} | at most 15 |")
    print(f"| triview's peak memory | {max(peaks):.0f} MB | under 1,000 MB |")
    print(f"| CPU at {SMALL:,} rows, one thread | {statistics.median(cpu):.2f} s | under 1 s |")
    met = whole <= 15 * reading and max(peaks) < 1_000 and statistics.median(cpu) < 1
    sys.exit(0 if met else 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "triview")
    parser.add_argument("--directory", type=Path, help="where to put the temporary files")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.make, arguments.rows)
    elif arguments.read:
        read(arguments.read, arguments.threads)
    else:
        run(arguments)


if __name__ == "__main__":
    main()
