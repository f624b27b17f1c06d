"""Spark and Dask beside one process: agreement, failures, processor time, memory, merging, votes.

Usage: bench_scale.py [--quick] [--rows N]

Real executor and worker processes on this machine, on loopback only. Expects the wheel's package, pyspark and dask[distributed] in the
environment that runs it. Exits with 1 where a target is missed. Times are processor time, user and system, in one run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import triview as tv
from triview import _parts

TESTS = Path(__file__).parent.parent / "python" / "tests"
sys.path.insert(0, str(TESTS))

from clusters import (  # noqa: E402
    SPECULATION,
    Killer,
    children,
    cut,
    executors,
    part_of,
    sliced,
    slow_part,
    spark_cluster,
    spark_session,
    written,
)

missed = []
TICKS = os.sysconf("SC_CLK_TCK")


def line(what, value, bound, unit=""):
    """Print a figure beside its bound."""
    good = value <= bound
    print(f"| {what} | {value:.3g}{unit} | at most {bound:g}{unit} | {'yes' if good else 'NO'} |", flush=True)
    if not good:
        missed.append(what)


def simulated(rows, classes="ten"):
    """A table of simulated scores in float32."""
    columns = tv.simulate(preset=classes, rows=rows).table.to_dict()
    return pa.table({name: values.astype(np.float32) for name, values in columns.items() if ":" in name})


def difference(one, other):
    """The largest difference of risk, standard error, p-value and prior, beside their size where that is above one."""
    pairs = [(one.risk, other.risk), (one.standard_error, other.standard_error), (one.p_value, other.p_value)]
    pairs += list(zip(one.class_prior.values(), other.class_prior.values(), strict=True))
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in pairs)


def agreement(folder, quick):
    """Figure 1: the same plan gives the same answer, whatever the partitions."""
    import dask

    import triview.dask
    import triview.spark

    rows = 20_000
    table = simulated(rows, "three")
    path, plan = written(table, folder / "rows.arrow"), tv.plan(table)
    alone = plan.accumulator().update(table).finish().solve()
    spark = spark_session(folder)
    for partitions in (1, 7) if quick else (1, 7, 200, 1000):
        bounds = cut(rows, partitions)
        ours = triview.spark.moments(sliced(spark, path, bounds), plan=plan).solve()
        line(f"Spark, {partitions} partitions: largest difference from one process", difference(ours, alone), 1e-9)
        delayed = [dask.delayed(part_of)(path, *bound) for bound in bounds]
        ours = triview.dask.moments(delayed, plan=plan).solve()
        line(f"Dask, {partitions} partitions: largest difference from one process", difference(ours, alone), 1e-9)
    spark.stop()


def failures(folder):
    """Figure 2: killed executors and workers, and copies of slow tasks, change no bit."""
    import dask
    import distributed

    import triview.dask
    import triview.spark

    rows, bounds = 20_000, cut(20_000, 24)
    sizes = [end - begin for begin, end in bounds]
    table = simulated(rows, "three")
    path, plan = written(table, folder / "rows.arrow"), tv.plan(table)
    def killed(spark, name):
        quiet = triview.spark.moments(sliced(spark, path, bounds), plan=plan, sizes=sizes)
        attempts = Path(tempfile.mkdtemp(dir=folder))
        killer = Killer(lambda: len(list(attempts.iterdir())) >= 6, executors)
        killer.start()
        slow = sliced(spark, path, bounds, attempts=str(attempts), seconds=0.4, slow=(20, 20.0))
        found = triview.spark.moments(slow, plan=plan, sizes=sizes)
        killer.join()
        spark.stop()
        again = len(list(attempts.iterdir())) - 1 - len(bounds)
        line(f"Spark, an executor killed{name}, {again} attempts repeated: rows lost or twice", abs(found.rows - rows), 0)
        line(f"the same: bits that differ from those of a quiet run{name}", int(found != quiet), 0)

    killed(spark_session(folder), "")
    # Copies of slow tasks are started on other hosts only.
    with spark_cluster(folder) as url:
        killed(spark_session(folder, url, **SPECULATION), ", speculative execution on")
    quiet = triview.dask.moments([dask.delayed(part_of)(path, *bound) for bound in bounds], plan=plan, sizes=sizes)
    os.environ["PYTHONPATH"] = str(TESTS)
    attempts = Path(tempfile.mkdtemp(dir=folder))
    slow = [dask.delayed(slow_part)(path, *bound, attempts, at) for at, bound in enumerate(bounds)]
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        workers = sorted(client.run(os.getpid).values())
        killer = Killer(lambda: len(list(attempts.iterdir())) >= 6, lambda: workers)
        killer.start()
        found = triview.dask.moments(slow, plan=plan, sizes=sizes)
        killer.join()
    again = len(list(attempts.iterdir())) - len(bounds)
    line(f"Dask, a worker killed, {again} attempts repeated: rows lost or twice", abs(found.rows - rows), 0)
    line("the same: bits that differ from those of a quiet run", int(found != quiet), 0)


def used(pid):
    """Processor seconds of a process and of all that it ever waited for, and of those below it."""
    total = 0
    for each in [pid, *children(pid, "")]:
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / TICKS


def peak(pid):
    """The most memory that a process had, in MB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next((int(said.split()[1]) / 1024 for said in status.splitlines() if said.startswith("VmHWM")), 0.0)


# What runs in a process of its own, with so many executors: processor time, and memory.
MEASURED = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{tests!r}, {scripts!r}]
import bench_scale as bench
print(json.dumps(bench.measured({rows!r}, {folder!r}, {executors})))
"""


def measured(rows, folder, count):
    """Processor seconds of counting and of estimating, of the executors and of all, and the peaks of memory."""
    import triview.spark

    def counting(batches):
        total = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_pydict({"rows": [total]})

    spark = spark_session(folder, f"local-cluster[{count},1,2048]", spark__executor__memory="2g")
    df = spark.read.parquet(rows)
    # Both find a virtual machine that has compiled what it runs.
    df.limit(200_000).mapInArrow(counting, "rows long").collect()
    before = peak(os.getpid())
    found = {}
    for name, work in (
        ("count", lambda: df.mapInArrow(counting, "rows long").groupBy().sum("rows").collect()),
        ("estimate", lambda: triview.spark.estimate(df)),
    ):
        own, whole = [used(pid) for pid in executors()], used(os.getpid())
        work()
        found[name] = sum(used(pid) for pid in executors()) - sum(own)
        found[f"{name}, all"] = used(os.getpid()) - whole
    workers = [pid for executor in executors() for pid in children(executor, "pyspark")]
    found["python"] = max(map(peak, workers))
    found["driver"] = peak(os.getpid()) - before
    spark.stop()
    return found


def large(folder, rows):
    """Figure 3: many rows of Parquet."""
    part = simulated(1_000_000)
    data = folder / "large"
    data.mkdir()
    for at in range(0, rows, part.num_rows):
        some = part.slice(0, min(part.num_rows, rows - at))
        pq.write_table(some, data / f"{at:012}.parquet", use_dictionary=False, row_group_size=250_000)
    found = {}
    for count in (2, 1):
        own = folder / f"spark-{count}"
        own.mkdir()
        code = MEASURED.format(
            tests=str(TESTS), scripts=str(Path(__file__).parent), rows=str(data), folder=str(own), executors=count
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        found[count] = json.loads(done.stdout.splitlines()[-1])
    two, one = found[2], found[1]
    print(json.dumps({"rows": rows, **{str(count): values for count, values in found.items()}}), file=sys.stderr)
    what = f"{rows:,} x 3 x 10 float32: "
    line(f"{what}processor time of two executors ({two['estimate']:.1f} s) beside one's", two["estimate"] / one["estimate"], 1.15)
    ratio = two["estimate, all"] / two["count, all"]
    line(f"{what}estimate ({two['estimate, all']:.1f} s in all) beside counting rows ({two['count, all']:.1f} s)", ratio, 3)
    line("memory of an executor's Python", max(two["python"], one["python"]), 1024, " MB")
    line("memory of the driver's Python beyond Spark's own", max(two["driver"], one["driver"]), 500, " MB")


def merging(quick):
    """Figure 4: many sums of ten classes, and how small those of few rows are."""
    table = simulated(100_000)
    plan = tv.plan(table)
    full = plan.accumulator().update(table).finish().to_bytes()
    count = 100 if quick else 1000
    begun = time.process_time()
    ((_, rows, _),) = _parts.merged([(None, table.num_rows, full)] * count)
    seconds = time.process_time() - begun
    assert rows == count * table.num_rows
    line(f"adding up {count:,} sums of ten classes, {len(full) / 1e6:.2f} MB each", seconds, 5 * count / 1000, " s")
    sizes = {n: len(plan.accumulator().update(table.slice(0, n)).finish().to_bytes()) for n in (1, 8, 64, 512)}
    nothing = len(plan.accumulator().finish().to_bytes())
    print(f"bytes of no rows: {nothing:,}; of rows: {sizes}", file=sys.stderr)
    line("the sums of one row beside those of many", sizes[1] / len(full), 1 / 16)


def crowd(folder, quick):
    """Figure 5: many votes."""
    import triview.spark

    items = 20_000 if quick else 2_000_000
    votes = pa.table(tv.simulate(crowd=True, rows=items, annotators=1000).table).select(["item", "annotator", "vote"])
    pq.write_table(votes, folder / "votes.parquet", row_group_size=500_000)
    spark = spark_session(folder)
    df = spark.read.parquet(str(folder / "votes.parquet"))
    before = peak(os.getpid())
    ours = triview.spark.votes(df)
    print(f"{ours.notes[-1]}; the peak grew by {peak(os.getpid()) - before:.0f} MB", file=sys.stderr)
    spark.stop()
    theirs = tv.votes(votes)
    keys = ("risk", "standard_error", "error_rate", "class_prior", "view_error")
    pairs = [(flat(ours.to_dict().get(key)), flat(theirs.to_dict().get(key))) for key in keys]
    differences = [abs(a - b) for left, right in pairs for a, b in zip(left, right, strict=True) if a is not None]
    line(f"{votes.num_rows:,} votes: largest difference from one process", max(differences), 1e-9)


def flat(value):
    """All numbers of a value."""
    if isinstance(value, dict):
        value = list(value.values())
    return [number for each in value for number in flat(each)] if isinstance(value, list) else [value]


def refusals():
    """Figure 6: what only one machine answers is refused before any row is read."""
    import triview.dask

    wide = pa.table({f"{view}:{i}": [0.5] for view in "abc" for i in range(100)})
    begun = time.process_time()
    refused = 0
    for options in ({}, {"label": "y"}, {"amplify": 5}, {"period": "day"}):
        try:
            triview.dask.estimate([wide], **options)
        except tv.TriviewError:
            refused += 1
    line("of 4 questions for one machine only, answered", 4 - refused, 0)
    line("and the time until they were refused", time.process_time() - begun, 1, " s")


def main():
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, partitions and votes")
    parser.add_argument("--rows", type=int, help="rows of the large table [default: 20000000]")
    parser.add_argument("--only", help="one figure by its number")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    quick, rows = options.quick, options.rows or (1_000_000 if options.quick else 20_000_000)
    print("| figure | measured | target | met |\n|---|---|---|---|")
    figures = {
        "1": lambda folder: agreement(folder, quick),
        "2": failures,
        "3": lambda folder: large(folder, rows),
        "4": lambda _: merging(quick),
        "5": lambda folder: crowd(folder, quick),
        "6": lambda _: refusals(),
    }
    for number, figure in figures.items():
        if options.only in (None, number):
            with tempfile.TemporaryDirectory() as folder:
                figure(Path(folder))
    print(json.dumps({"missed": missed}), file=sys.stderr)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
