#!/usr/bin/env python3
"""NannyML's CBPE on the runs that the table of docs/monitoring.md is made of.

    mkdir -p target/runs
    cargo run --release --example monitoring -- 200 100 target/runs
    python3 -m venv target/venv/nannyml && target/venv/nannyml/bin/pip install nannyml statsmodels
    target/venv/nannyml/bin/python scripts/monitoring_cbpe.py target/runs

It is fitted to the first four periods with their labels; an alert is one of its own thresholds. Prints a Markdown table.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("NML_DISABLE_USAGE_LOGGING", "1")

import nannyml as nml
import numpy as np
import pandas as pd

ROWS, BASELINE, CHANGE, CLASSES = 5_000, 4, 6, 6


def alerts(path: Path) -> list[bool]:
    """Whether each period after the baseline raises an alert."""
    cells = np.fromfile(path, dtype="<f4").reshape(-1, 2 + CLASSES).astype(float)
    names = [f"p{c}" for c in range(CLASSES)]
    rows = pd.DataFrame(cells, columns=["period", "label", *names])
    # Four bytes a number: probabilities sum to one again.
    rows[names] = rows[names].div(rows[names].sum(axis=1), axis=0)
    rows["prediction"] = rows[names].to_numpy().argmax(axis=1).astype(str)
    rows["label"] = rows["label"].astype(int).astype(str)
    old, new = rows[rows.period < BASELINE], rows[rows.period >= BASELINE]
    estimator = nml.CBPE(
        problem_type="classification_multiclass",
        y_pred_proba={str(c): name for c, name in enumerate(names)},
        y_pred="prediction",
        y_true="label",
        metrics=["accuracy"],
        chunk_size=ROWS,
    )
    estimator.fit(old)
    frame = estimator.estimate(new.drop(columns="label")).filter(period="analysis").to_df()
    return frame[("accuracy", "alert")].astype(bool).tolist()


def main() -> int:
    """Count the alerts of each kind of run."""
    print("| what happens | runs | with an alert | within two periods of the change |\n|---|---|---|---|")
    for kind in ("Nothing", "Worse", "Shares"):
        found = [alerts(path) for path in sorted(Path(sys.argv[1]).glob(f"{kind}-*.f32"))]
        change = CHANGE - BASELINE
        soon = sum(any(run[change : change + 2]) for run in found)
        print(f"| {kind} | {len(found)} | {sum(map(any, found))} | {soon if kind == 'Worse' else ''} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
