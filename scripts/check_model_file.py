#!/usr/bin/env python3
"""Runs the Python blocks of docs/model-file.md and compares what scikit-learn, `triview score` and the model read back say.

Needs numpy, scikit-learn and safetensors, and the path of the program: check_model_file.py TRIVIEW
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.linear_model import LogisticRegression

triview = pathlib.Path(sys.argv[1]).resolve()
page = pathlib.Path(__file__).resolve().parent.parent / "docs" / "model-file.md"
blocks = {}
for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.S):
    exec(compile(block, str(page), "exec"), blocks)

views = {"a": ["x", "y"], "b": ["x", "y", "z"], "c": ["0"]}
columns = [f"{view}:{feature}" for view, features in views.items() for feature in features]
for classes in (2, 3):
    rng = np.random.default_rng(classes)
    truth = rng.integers(classes, size=500)
    rows = rng.normal(size=(classes, len(columns)))[truth] + rng.normal(size=(500, len(columns)))
    model = LogisticRegression().fit(rows, truth)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with open(folder / "rows.csv", "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows.tolist()])
        blocks["write_model"](folder / "own.safetensors", model, views)
        command = [triview, "score", "rows.csv", "--model", "own.safetensors", "-o", "scores.csv", "--quiet"]
        subprocess.run(command, cwd=folder, check=True)
        with open(folder / "scores.csv", newline="") as file:
            scored = list(csv.DictReader(file))
        by_class = [[sum(float(row[f"{v}:{c}"]) for v in views) for c in range(classes)] for row in scored]
        names, score = blocks["read_model"](folder / "own.safetensors")
        ends = np.cumsum([len(features) for features in views.values()])[:-1]
        read_back = score(dict(zip(views, np.split(rows, ends, axis=1))))
    assert names == [str(c) for c in range(classes)], names
    softmax = np.exp(by_class) / np.exp(by_class).sum(axis=1, keepdims=True)
    assert np.allclose(read_back, by_class, atol=1e-5), np.abs(read_back - by_class).max()
    assert np.allclose(softmax, model.predict_proba(rows), atol=1e-5)
print("scikit-learn, triview and the model read back agree")
