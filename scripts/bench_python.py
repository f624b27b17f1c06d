"""The Python package beside the command line, in one run: processor time, memory, import, threads, bits.

Usage: bench_python.py [--quick]

Expects the wheel's package to be importable and target/release/triview to be built. Exits with 1 where a target is missed.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np

import triview as tv

BINARY = Path("target/release/triview")
missed = []


def line(what, value, bound, unit=""):
    """Print a figure beside its bound."""
    good = value <= bound
    print(f"| {what} | {value:.3g}{unit} | at most {bound:g}{unit} | {'yes' if good else 'NO'} |", flush=True)
    if not good:
        missed.append(what)


def run(code, *arguments):
    """Run Python code in a process of its own: processor seconds, wall seconds, peak bytes, what it printed."""
    report = """
import resource, time
def _used():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
_begun, _before = time.perf_counter(), _used()
{code}
_wall, _processor = time.perf_counter() - _begun, _used() - _before
print(_processor, _wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""
    text = report.format(code=textwrap.dedent(code))
    printed = subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout.split()
    return [float(number) for number in printed[-3:]]


def command(*arguments):
    """Run the command line: processor seconds of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.returncode in (0, 1), ended.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def smallest(measure, times):
    """The smallest of some measurements: the one that others on the machine disturbed least."""
    return min(measure() for _ in range(times))


ESTIMATE = """
import sys, warnings, numpy as np, triview as tv
warnings.simplefilter("ignore")
scores = np.load(sys.argv[1])
_begun, _before = time.perf_counter(), _used()
tv.estimate(scores, threads=1, progress=False)
"""


def small(folder, times):
    """10,000 rows, three views, ten classes: a call, and what the first of a process takes more (pages of the module that are read)."""
    table = folder / "small.npy"
    command("simulate", "--preset", "ten", "--rows", 10_000, "-o", table, "-q")
    again = ESTIMATE + "_begun, _before = time.perf_counter(), _used()\ntv.estimate(scores, threads=1, progress=False)\n"
    rounds = [
        (run(again, table)[0], run(ESTIMATE, table)[0], command("estimate", table, "--threads", 1, "-q"))
        for _ in range(times)
    ]
    ours, first, theirs = (min(seconds) for seconds in zip(*rounds, strict=True))
    line(f"10,000 x 3 x 10: processor time, {ours:.2f} s beside the command line's {theirs:.2f} s", ours / theirs, 1.05)
    line("the first call of a process beyond that", first - ours, 0.1, " s")


def large(folder, rows):
    """Many rows of float32."""
    table = folder / "large.npy"
    scores = np.lib.format.open_memmap(table, mode="w+", dtype=np.float32, shape=(rows, 3, 3))
    part = tv.simulate(preset="three", rows=min(rows, 500_000)).table.to_dict()
    columns = np.stack([np.stack([part[f"{view}:{i}"] for i in range(3)], axis=1) for view in "abc"], axis=1)
    for at in range(0, rows, len(columns)):
        scores[at : at + len(columns)] = columns[: min(len(columns), rows - at)]
    scores.flush()
    size = scores.nbytes
    del scores
    rounds = [(*run(ESTIMATE, table), command("estimate", table, "--threads", 1, "-q")) for _ in range(3)]
    seconds, _, peak, theirs = (min(column) for column in zip(*rounds, strict=True))
    line(f"{rows:,} x 3 x 3 float32: processor time, {seconds:.1f} s beside {theirs:.1f} s", seconds / theirs, 1.1)
    line(f"{rows:,} rows: peak memory beyond the array", (peak - size) / 2**20, 300, " MB")


def imports(times):
    """What `import triview` costs."""
    bare = smallest(lambda: run("import numpy")[1], times)
    ours = smallest(lambda: run("import numpy\nimport triview")[1], times)
    line("`import triview` beyond `import numpy`", ours - bare, 0.05, " s")
    names = "pandas pyarrow polars sklearn matplotlib"
    code = f"import sys, triview\nprint(*(name for name in {names.split()} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    line(f"of {names} imported by it", len(found), 0)


def threads(folder, times):
    """Two Python threads at once, one thread of the core each."""
    table = folder / "small.npy"
    one = """
import sys, warnings, numpy as np, triview as tv
warnings.simplefilter("ignore")
scores = np.load(sys.argv[1])
tv.estimate(scores, threads=1, progress=False)
_begun = time.perf_counter()
tv.estimate(scores, threads=1, progress=False)
"""
    two = """
import sys, threading, warnings, numpy as np, triview as tv
warnings.simplefilter("ignore")
scores = np.load(sys.argv[1])
tv.estimate(scores, threads=1, progress=False)
work = [threading.Thread(target=lambda: tv.estimate(scores, threads=1, progress=False)) for _ in range(2)]
_begun = time.perf_counter()
[thread.start() for thread in work]
[thread.join() for thread in work]
"""
    rounds = [(run(two, table)[1], run(one, table)[1]) for _ in range(times)]
    both, alone = (min(seconds) for seconds in zip(*rounds, strict=True))
    line(f"two threads at once ({both:.2f} s beside {alone:.2f} s for one)", both / alone, 1.2)


def wheel():
    """How large the wheel is."""
    for path in sorted(Path("target/wheels").glob("*.whl")):
        line("the wheel", path.stat().st_size / 1e6, 15, " MB")


def main():
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, once")
    quick = parser.parse_args().quick
    os.environ["PYTHONWARNINGS"] = "ignore"
    print("| figure | measured | target | met |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        small(folder, 1 if quick else 7)
        threads(folder, 1 if quick else 5)
        imports(3 if quick else 15)
        large(folder, 1_000_000 if quick else 10_000_000)
    wheel()
    print(json.dumps({"missed": missed}), file=sys.stderr)
    sys.exit(1 if missed else 0)


main()
