#!/usr/bin/env python3
"""A year of weeks in a store: class shares that drift, then a model that becomes worse. Beside it NannyML's CBPE, where it is installed.

    cargo build --release -p triview-cli
    python scripts/monitoring_year.py --nannyml target/venv/nannyml/bin/python --svg docs/monitoring.svg

Needs NumPy. NannyML needs an environment of its own: python3 -m venv target/venv/nannyml && target/venv/nannyml/bin/pip install nannyml
statsmodels. Prints what the store says, and a Markdown table of some weeks.
"""

import argparse
import csv
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
WEEKS, ROWS, CLASSES, VIEWS = 52, 3_000, 4, ("image", "text", "audio")
BASELINE = 13
#: The first week of drifting shares, and that of the worse model.
SHARES, WORSE = 20, 38
SHOWN = (0, 12, 19, 25, 30, 36, 37, 38, 39, 44, 51)

CBPE = """
import sys, pandas as pd, nannyml as nml
rows = pd.read_csv(sys.argv[1])
classes = sorted(column.split("_")[1] for column in rows if column.startswith("p_"))
rows["prediction"] = rows["prediction"].astype(str)
rows["label"] = rows["label"].astype(str)
old, new = rows[rows.week < int(sys.argv[2])], rows[rows.week >= int(sys.argv[2])]
estimator = nml.CBPE(
    problem_type="classification_multiclass", y_pred_proba={name: f"p_{name}" for name in classes}, y_pred="prediction",
    y_true="label", metrics=["accuracy"], chunk_size=int(sys.argv[3]))
estimator.fit(old)
for _, chunk in estimator.estimate(new.drop(columns="label")).to_df().iterrows():
    print(1 - chunk[("accuracy", "value")], int(chunk[("accuracy", "alert")]))
"""


def weeks():
    """The scores and labels of each week."""
    rng = np.random.default_rng(7)
    means = rng.normal(0, 1.1, (len(VIEWS), CLASSES, CLASSES))
    model = means + rng.normal(0, 0.3, means.shape)
    off = rng.normal(0, 1, means.shape)
    for week in range(WEEKS):
        share = min(max((week - SHARES) / 10, 0), 1)
        prior = (1 - share) / CLASSES + share * np.array([0.55, 0.25, 0.1, 0.1])
        moved = model + (0.35 * off if week >= WORSE else 0)
        label = rng.choice(CLASSES, size=ROWS, p=prior)
        scores = []
        for view in range(len(VIEWS)):
            x = means[view][label] + rng.laplace(0, 0.5**0.5, (ROWS, CLASSES))
            scores.append(x @ moved[view].T - (moved[view] ** 2).sum(axis=1) / 2)
        yield week, np.stack(scores), label


def write(folder: Path) -> list[float]:
    """Write a file a week, and one of all for NannyML; the error rates by the labels."""
    names = [f"{view}:{c}" for view in VIEWS for c in range(CLASSES)]
    errors = []
    with (folder / "nannyml.csv").open("w") as other:
        beside = csv.writer(other)
        beside.writerow(["week", "label", "prediction", *[f"p_{c}" for c in range(CLASSES)]])
        for week, scores, label in weeks():
            total = scores.sum(axis=0)
            prediction = total.argmax(axis=1)
            errors.append(float((prediction != label).mean()))
            p = np.exp(total - total.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            beside.writerows([week, label[i], prediction[i], *p[i]] for i in range(ROWS))
            monday = datetime.date(2025, 1, 6) + datetime.timedelta(weeks=week)
            with (folder / f"week-{week:02}.csv").open("w") as file:
                table = csv.writer(file)
                table.writerow(["when", *names])
                days = np.arange(ROWS) * 7 // ROWS
                flat = np.concatenate(list(scores), axis=1)
                table.writerows(
                    [monday + datetime.timedelta(days=int(days[i])), *np.round(flat[i], 5)] for i in range(ROWS)
                )
    return errors


def main() -> int:
    """Fill the store and say what it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triview", default=ROOT / "target/release/triview", type=Path)
    parser.add_argument("--nannyml", help="a Python that has NannyML")
    parser.add_argument("--svg", type=Path, help="where to draw the curve")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        errors = write(folder)
        store = folder / "model.store"
        ask = [asked.triview, "monitor", store, "--quiet"]
        files = sorted(folder.glob("week-*.csv"))
        subprocess.run([*ask, "--add", *files, "--time", "when", "--period", "week"], check=False, stdout=subprocess.DEVNULL)
        drawn = ["--svg", asked.svg] if asked.svg else []
        print(subprocess.run([*ask, *drawn], check=False, capture_output=True, text=True).stdout)
        said = json.loads(subprocess.run([*ask, "--json"], check=False, capture_output=True, text=True).stdout)
        cbpe = []
        if asked.nannyml:
            command = [asked.nannyml, "-c", CBPE, folder / "nannyml.csv", str(BASELINE), str(ROWS)]
            lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
            cbpe = [("", "")] * BASELINE + [(f"{float(value):.4f}", " alert" * int(alert)) for value, alert in map(str.split, lines)]
    print("| week | error rate by labels | triview | interval | worse, factor | inputs | CBPE |\n|---|---|---|---|---|---|---|")
    for at in SHOWN:
        period = said["periods"][at]
        rate, doubt = period["error_rate"], "" if period["trusted"] else " (not trusted)"
        ends = rate["interval"]
        changed = "changed" if period["inputs_changed"] else ""
        beside = "".join(cbpe[at]) if cbpe else ""
        print(
            f"| {period['period']} | {errors[at]:.4f} | {rate['value']:.4f}{doubt} | {ends['low']:.3f} to {ends['high']:.3f} "
            f"| {period['worse']:.3g} | {changed} | {beside} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
