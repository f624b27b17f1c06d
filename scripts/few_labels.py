"""What a few labels say: alone, with what the views impute, and with a posterior that they recalibrate.

    python3 scripts/few_labels.py [--program FILE] [--draws N] [--data TABLE.parquet ...]

Draws 1,000 rows with 20 or 100 labels of each table (columns `view:class` and `label`), and of simulated independent views, and prints the
table of `docs/labels.md`: mean errors against what all labels say, of the summed scores and of every view as a model of its own. Needs NumPy
and pyarrow.
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
WAYS = ("alone", "valid", "recalibrated", "first")


def read(path):
    """Scores by row, view and class, the names of the columns, and the class of each row."""
    table = pyarrow.parquet.read_table(path)
    columns = [name for name in table.column_names if ":" in name]
    views, classes = (list(dict.fromkeys(name.split(":")[at] for name in columns)) for at in (0, 1))
    scores = np.stack([np.stack([table[f"{view}:{j}"].to_numpy() for j in classes], 1) for view in views], 1)
    return scores, columns, np.array([classes.index(str(label)) for label in table["label"].to_pylist()]), classes


def draw(task):
    """For the risk, the error rate and that of every view: the value and the interval of each way, and of the one that comes first."""
    program, columns, scores, labels, count, classes = task
    table = {name: scores[:, at // len(classes), at % len(classes)] for at, name in enumerate(columns)}
    table["label"] = [classes[label] if row < count else None for row, label in enumerate(labels)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scores.parquet"
        pyarrow.parquet.write_table(pyarrow.table(table), path)
        command = [program, "estimate", path, "--label", "label", "--each", "--json", "--quiet", "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise SystemExit(done.stderr)
    said = json.loads(done.stdout)["labels"]

    def ways(valid, recalibrated, leads):
        found = [valid["alone"], valid, recalibrated, recalibrated if leads == "recalibrated" else valid]
        return [(way["value"], way["interval"]["low"], way["interval"]["high"]) for way in found]

    whole = [ways(said[key], said["recalibrated"][key], said["leads"][key]) for key in ("risk", "error_rate")]
    views = [view["error_rate"] for view in said["each"]]
    return whole + [ways(view["valid"], view["recalibrated"], view["leads"]) for view in views]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/triview")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--data", nargs="*", default=[])
    args = parser.parse_args()
    head = ["rows", "labels", "of", "to the labels alone", "to the valid answer", "covered", "width", "valid covered", "first covered", "first's width"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool() as pool:
        paths = [pathlib.Path(path) for path in args.data]
        for preset in ("three", "six"):
            paths.append(pathlib.Path(folder) / f"{preset}.parquet")
            simulate = [args.program, "simulate", "--preset", preset, "--rows", "100000", "--seed", "77", "-q", "-o", paths[-1]]
            subprocess.run(simulate, check=True)
        for path in paths:
            scores, columns, labels, classes = read(path)
            views = list(dict.fromkeys(name.split(":")[0] for name in columns))
            for count in (20, 100):
                rng = np.random.default_rng(args.seed)
                chosen = [rng.choice(len(labels), ROWS, replace=False) for _ in range(args.draws)]
                tasks = [(args.program, columns, scores[rows], labels[rows], count, classes) for rows in chosen]
                found = np.array(pool.map(draw, tasks, chunksize=1))
                alone = [(f"error rate of {view}", (scores[:, at].argmax(-1) != labels).mean()) for at, view in enumerate(views)]
                for at, (name, value) in enumerate([*zip(("risk", "error rate"), truth(scores, labels), strict=True), *alone]):
                    means, low, high = np.moveaxis(found[:, at], -1, 0)
                    off = dict(zip(WAYS, np.abs(means - value).mean(0), strict=True))
                    width = dict(zip(WAYS, (high - low).mean(0), strict=True))
                    covered = dict(zip(WAYS, ((low <= value) & (value <= high)).mean(0), strict=True))
                    ratios = [f"{off['recalibrated'] / off[way]:.2f}" for way in ("alone", "valid")]
                    wide = [f"{width[way] / width['alone']:.2f}" for way in ("recalibrated", "first")]
                    row = [path.stem, count, name, *ratios, f"{covered['recalibrated']:.0%}", wide[0]]
                    row += [f"{covered['valid']:.0%}", f"{covered['first']:.0%}", wide[1]]
                    print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
