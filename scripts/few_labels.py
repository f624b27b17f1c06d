"""What a few labels say: alone, with what the views impute, and with a posterior that they recalibrate.

    python3 scripts/few_labels.py [--program FILE] [--draws N] [--data TABLE.parquet ...]

Draws 1,000 rows with 20 or 100 labels of each table (columns `view:class` and `label`), and of simulated independent views, and prints the
table of `docs/labels.md`: mean errors against what all labels say. Needs NumPy and pyarrow.
"""

import argparse
import json
import multiprocessing
import pathlib
import subprocess
import tempfile

import numpy as np
import pyarrow
import pyarrow.parquet
from dependence import truth

ROWS = 1_000
WAYS = ("alone", "valid", "recalibrated")


def read(path):
    """Scores by row, view and class, the names of the columns, and the class of each row."""
    table = pyarrow.parquet.read_table(path)
    columns = [name for name in table.column_names if ":" in name]
    views, classes = (list(dict.fromkeys(name.split(":")[at] for name in columns)) for at in (0, 1))
    scores = np.stack([np.stack([table[f"{view}:{j}"].to_numpy() for j in classes], 1) for view in views], 1)
    return scores, columns, np.array([classes.index(str(label)) for label in table["label"].to_pylist()]), classes


def draw(task):
    """For the risk and for the error rate: the value and the interval of each way."""
    program, columns, scores, labels, count, classes = task
    table = {name: scores[:, at // len(classes), at % len(classes)] for at, name in enumerate(columns)}
    table["label"] = [classes[label] if row < count else None for row, label in enumerate(labels)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scores.parquet"
        pyarrow.parquet.write_table(pyarrow.table(table), path)
        command = [program, "estimate", path, "--label", "label", "--json", "--quiet", "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise SystemExit(done.stderr)
    said = json.loads(done.stdout)["labels"]

    def ways(key):
        found = (said[key]["alone"], said[key], said["recalibrated"][key])
        return [(way["value"], way["interval"]["low"], way["interval"]["high"]) for way in found]

    return ways("risk"), ways("error_rate")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/triview")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--data", nargs="*", default=[])
    args = parser.parse_args()
    print("| rows | labels | of | ratio to the labels alone | to the valid answer | covered | width over that of the labels alone |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool() as pool:
        paths = [pathlib.Path(path) for path in args.data]
        for preset in ("three", "six"):
            paths.append(pathlib.Path(folder) / f"{preset}.parquet")
            simulate = [args.program, "simulate", "--preset", preset, "--rows", "100000", "--seed", "77", "-q", "-o", paths[-1]]
            subprocess.run(simulate, check=True)
        for path in paths:
            scores, columns, labels, classes = read(path)
            for count in (20, 100):
                rng = np.random.default_rng(args.seed)
                chosen = [rng.choice(len(labels), ROWS, replace=False) for _ in range(args.draws)]
                tasks = [(args.program, columns, scores[rows], labels[rows], count, classes) for rows in chosen]
                found = np.array(pool.map(draw, tasks, chunksize=1))
                for at, (name, value) in enumerate(zip(("risk", "error rate"), truth(scores, labels), strict=True)):
                    means, low, high = np.moveaxis(found[:, at], -1, 0)
                    off = dict(zip(WAYS, np.abs(means - value).mean(0), strict=True))
                    width = dict(zip(WAYS, (high - low).mean(0), strict=True))
                    covered = ((low <= value) & (value <= high)).mean(0)[-1]
                    ratios = [off["recalibrated"] / off[way] for way in ("alone", "valid")]
                    wide = width["recalibrated"] / width["alone"]
                    print(f"| {path.stem} | {count} | {name} | {ratios[0]:.2f} | {ratios[1]:.2f} | {covered:.0%} | {wide:.2f} |", flush=True)


if __name__ == "__main__":
    main()
