"""Times `triview adapt` beside scikit-learn's LogisticRegression on the same rows, which it is given the labels of.

    cargo build --release -p triview-cli
    scripts/mnist.sh
    python scripts/bench_adapt.py

10,000 composites of MNIST (784 features, ten classes) distorted with a = 5, a seed model trained at a = 0. Both fit in one
run, in turn, on the same number of threads; reading and writing files is triview's extra. Prints a Markdown table of the
time passed and of processor time, which on a shared machine is the one to compare. Exits with 1 where the adaptation itself
takes more than half of scikit-learn's processor time.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = 10_000


def read(part: str):
    import numpy as np

    folder = ROOT / "data" / "mnist"
    images = np.fromfile(folder / f"{part}-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 784) / np.float32(255)
    return images, np.fromfile(folder / f"{part}-labels-idx1-ubyte", np.uint8)[8:]


def composites(images, labels, a: float, seed: int):
    """Every third pixel from each of three images of a class, as in crates/triview/src/composite.rs."""
    import numpy as np

    rng = np.random.default_rng(seed)
    classes = rng.integers(10, size=ROWS)
    members = [np.flatnonzero(labels == c) for c in range(10)]
    rows = np.empty((ROWS, 784), np.float32)
    for view in range(3):
        chosen = np.array([rng.choice(members[c]) for c in classes])
        rows[:, view::3] = images[chosen][:, view::3]
    y, x = np.divmod(np.arange(784), 28)
    distance = np.hypot(y - 13.5, x - 13.5) / np.hypot(13.5, 13.5)
    return rows * np.exp(-a * (distance - 0.4)).astype(np.float32), classes


def write(path: Path, rows, classes) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def lists(view: int):
        part = rows[:, view::3]
        return pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), part.shape[1])

    pq.write_table(pa.table({"a": lists(0), "b": lists(1), "c": lists(2), "digit": classes}), path)


def run(command: list) -> tuple[float, float]:
    """Seconds that passed and processor seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        sys.exit(done.stderr)
    return seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def fit(model, rows, classes) -> tuple[float, float]:
    start, processor = time.perf_counter(), time.process_time()
    model.fit(rows, classes)
    return time.perf_counter() - start, time.process_time() - processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--triview", default=str(ROOT / "target" / "release" / "triview"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(args.threads)
    from sklearn.linear_model import LogisticRegression

    triview = [args.triview, "--threads", str(args.threads), "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old.parquet"), Path(folder, "new.parquet")
        seed, adapted = Path(folder, "seed.safetensors"), Path(folder, "adapted.safetensors")
        write(old, *composites(*read("train"), 0.0, 1))
        rows, classes = composites(*read("t10k"), 5.0, 2)
        write(new, rows, classes)
        run([*triview, "train", str(old), "--label", "digit", "-o", str(seed)])
        adapt = [*triview, "adapt", str(new), "--model", str(seed), "-o", str(adapted)]
        ways = {
            "triview adapt": lambda: run(adapt),
            "triview adapt --radius 2 --no-judgement": lambda: run([*adapt, "--radius", "2", "--no-judgement"]),
            "LogisticRegression().fit": lambda: fit(LogisticRegression(), rows, classes),
        }
        times = {name: [] for name in ways}
        for _ in range(args.repeats):
            for name, way in ways.items():
                times[name].append(way())
    print(f"| {ROWS:,} rows, 784 features, 10 classes, {args.threads} threads | seconds | of processors |")
    print("|---|---|---|")
    least = {name: [min(each) for each in zip(*seconds)] for name, seconds in times.items()}
    for name, (passed, processor) in least.items():
        print(f"| `{name}` | {passed:.2f} | {processor:.2f} |")
    _, adaptation, peer = (processor for _, processor in least.values())
    sys.exit(0 if 2 * adaptation <= peer else 1)


if __name__ == "__main__":
    main()
