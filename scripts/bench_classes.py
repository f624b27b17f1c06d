#!/usr/bin/env python3
"""How the time of an estimate grows with the number of classes, beside an older build where one is given.

    cargo build --release -p triview-cli
    python scripts/bench_classes.py [--old OLDER_TRIVIEW]

Processor seconds of one thread, the least of some runs in turn, for 20,000 rows of `simulate --preset ten --classes K`. Prints a Markdown table and the
slope of the logarithms; exits with 1 where a target is missed.
"""

import argparse
import math
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Of the older build's time, and of the time of ten classes.
OF_OLD = {10: 0.6, 16: 0.3, 24: 0.1, 32: 0.06}
OF_TEN = {32: 8.0, 64: 32.0}


def processor(command: list) -> float:
    """Run it and say how many seconds of the processor it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode == 2:
        sys.exit(f"{command[0]} could not answer")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def slope(times: dict[int, float]) -> float:
    """The slope of log time by log classes, by least squares."""
    points = [(math.log(k), math.log(seconds)) for k, seconds in times.items()]
    x, y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def main() -> int:
    """Measure, print, and say whether it is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triview", default=ROOT / "target/release/triview", type=Path)
    parser.add_argument("--old", type=Path, help="an older build, to be measured in turn")
    parser.add_argument("--old-most", type=int, default=32, help="the most classes that the older build is asked")
    parser.add_argument("--classes", default="4,10,16,24,32,48,64")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    new, old = {}, {}
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "scores.parquet"
        for k in map(int, asked.classes.split(",")):
            simulate = ["simulate", "--preset", "ten", "--classes", str(k), "--rows", "20000", "-o", table, "--quiet"]
            subprocess.run([asked.triview, *simulate], check=True)
            question = ["estimate", table, "--threads", "1", "--quiet"]
            for _ in range(asked.runs):
                new[k] = min(new.get(k, math.inf), processor([asked.triview, *question]))
                if asked.old and k <= asked.old_most:
                    old[k] = min(old.get(k, math.inf), processor([asked.old, *question]))
    missed = False
    print("| classes | seconds | of ten classes' | target | older build | of its time | target |\n|---|---|---|---|---|---|---|")
    for k, seconds in new.items():
        of_ten = seconds / new[10] if 10 in new else math.nan
        of_old = seconds / old[k] if k in old else math.nan
        missed |= of_ten > OF_TEN.get(k, math.inf) or of_old > OF_OLD.get(k, math.inf)
        cells = [f"{k}", f"{seconds:.2f}", f"{of_ten:.1f}", f"{OF_TEN.get(k, '')}"]
        cells += [f"{old[k]:.2f}", f"{of_old:.3f}", f"{OF_OLD.get(k, '')}"] if k in old else ["", "", ""]
        print("| " + " | ".join(cells) + " |")
    print(f"\nslope of log seconds by log classes: {slope(new):.2f}", end="")
    print(f", of the older build {slope(old):.2f}" if len(old) > 1 else "")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
