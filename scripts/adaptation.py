#!/usr/bin/env python3
"""Adaptation to a real new domain, beside what one would pick instead.

    python3 scripts/adaptation.py --data FOLDER --name PAIR [--program FILE] [--draws N] [--labels N] [--rows N]

FOLDER has `PAIR-source.parquet`, `PAIR-target.parquet` and `PAIR-fresh.parquet`: features `view:feature` of three views and a `label` of two
classes. Each draw takes rows of the target, of which the class of a few is known; every model is judged on the fresh rows. Prints the table of
`docs/adaptation.md`. Needs NumPy, SciPy, pyarrow and scikit-learn.
"""

import argparse
import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.linalg
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

#: Penalties that scikit-learn's models choose from, by the labels that they have.
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0)


def read(path):
    """The table, its features, and which rows are of the second class."""
    table = pq.read_table(path)
    names = [name for name in table.column_names if name != "label"]
    features = sp.csr_matrix(np.column_stack([table[name].to_numpy() for name in names]).astype(np.float32))
    labels = np.array([str(label) for label in table["label"].to_pylist()])
    return table, features, labels == sorted(set(labels))[1]


def fitted(features, labels, weights=None, penalty=1.0):
    """A logistic regression; of labels that are shares each row counts for both classes."""
    model = LogisticRegression(C=penalty, max_iter=500)
    labels = np.asarray(labels, float)
    weights = np.ones(len(labels)) if weights is None else weights
    if set(np.unique(labels)) <= {0.0, 1.0}:
        return model.fit(features, labels > 0.5, sample_weight=weights)
    both = sp.vstack([features, features])
    halves = np.append(weights * labels, weights * (1 - labels))
    return model.fit(both, np.repeat([True, False], len(labels)), sample_weight=halves)


def said(model, features):
    """The probability of the second class."""
    return np.clip(model.predict_proba(features)[:, 1], 1e-12, 1 - 1e-12)


def refitted(source, target, known, weight):
    """The source's labels and the few, each of which counts for so many."""
    (features, labels), (rows, classes) = source, target
    both = sp.vstack([features, rows[known]])
    weights = np.append(np.ones(len(labels)), np.full(len(known), weight))
    return fitted(both, np.append(labels, classes[known]), weights)


def self_trained(source, target, known):
    """Rounds of labels by the model itself, of the surer half of the rows first and then of all."""
    (features, labels), (rows, classes) = source, target
    model = refitted(source, target, known, 1.0)
    for share in (0.5, 0.75, 1.0):
        sure = said(model, rows)
        taken = np.argsort(-np.abs(sure - 0.5))[: int(share * rows.shape[0])]
        own = sure[taken] > 0.5
        own = np.where(np.isin(taken, known), classes[taken], own)
        model = fitted(sp.vstack([features, rows[taken]]), np.append(labels, own))
    return model


def importance_weighted(source, target, known):
    """The source's rows, weighed by how much they look like the target's; the few labels beside them."""
    (features, labels), (rows, classes) = source, target
    domain = np.repeat([0, 1], [features.shape[0], rows.shape[0]])
    share = cross_val_predict(LogisticRegression(C=0.1, max_iter=500), sp.vstack([features, rows]), domain, cv=5, method="predict_proba")
    odds = np.clip(share[: len(labels), 1] / share[: len(labels), 0], 0.05, 20)
    weights = np.append(odds / odds.mean(), np.ones(len(known)))
    return fitted(sp.vstack([features, rows[known]]), np.append(labels, classes[known]), weights)


def coral(source, target, known, fresh):
    """CORAL in 200 directions: the source's covariance is made the target's (Sun, Feng and Saenko 2016)."""
    (features, labels), (rows, classes) = source, target
    directions = TruncatedSVD(200, random_state=0).fit(sp.vstack([features, rows]))
    old, new, test = (directions.transform(part) for part in (features, rows, fresh))
    ridge = 1e-3 * np.eye(old.shape[1])
    whiten = np.real(scipy.linalg.inv(scipy.linalg.sqrtm(np.cov(old.T) + ridge)))
    colour = np.real(scipy.linalg.sqrtm(np.cov(new.T) + ridge))
    old = (old - old.mean(0)) @ whiten @ colour + new.mean(0)
    model = fitted(np.vstack([old, new[known]]), np.append(labels, classes[known]))
    return said(model, test)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--name", default="amazon")
    parser.add_argument("--program", type=Path, default=Path("target/release/triview"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=0, help="the first draw")
    parser.add_argument("--beside", action="store_true", help="also what one would pick instead")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    paths = {part: asked.data / f"{asked.name}-{part}.parquet" for part in ("source", "target", "fresh")}
    (_, old, old_labels), (table, new, new_labels), (_, test, truth) = (read(paths[part]) for part in paths)
    program = asked.program.resolve()
    found: dict[str, list[tuple[float, float]]] = {}
    verdicts: dict[str, int] = {}
    off: list[float] = []

    def judged(way, share):
        loss = -np.mean(np.where(truth, np.log(share), np.log1p(-share)))
        found.setdefault(way, []).append((float(np.mean((share > 0.5) != truth)), float(loss)))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(*arguments, statuses=(0,)):
            done = subprocess.run([program, *map(str, arguments), "--quiet"], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode not in statuses:
                raise SystemExit(f"{arguments}: {done.stderr}")
            return done.stdout

        def scored(model):
            run("score", paths["fresh"], "--model", model, "--label", "label", "-o", "s.parquet")
            scores = pq.read_table(folder / "s.parquet")
            classes = sorted({column.split(":")[1] for column in scores.column_names if ":" in column})
            sums = [sum(scores[c].to_numpy() for c in scores.column_names if c.endswith(f":{j}")) for j in classes]
            return np.clip(1 / (1 + np.exp(sums[0] - sums[1])), 1e-12, 1 - 1e-12)

        run("train", paths["source"], "--label", "label", "-o", "seed.safetensors")
        of_seed = scored("seed.safetensors")
        for draw in range(asked.seed, asked.seed + asked.draws):
            taken = np.random.default_rng(draw).permutation(new.shape[0])[: asked.rows]
            known = np.arange(asked.labels)
            rows = table.take(taken)
            texts = [str(label) if row < asked.labels else None for row, label in enumerate(rows["label"].to_pylist())]
            rows = rows.set_column(rows.column_names.index("label"), "label", pa.array(texts, pa.string()))
            pq.write_table(rows, folder / "target.parquet")
            (folder / "adapted.safetensors").unlink(missing_ok=True)
            label = ["--label", "label"] if asked.labels else []
            text = run("adapt", "target.parquet", "--model", "seed.safetensors", *label, "-o", "adapted.safetensors", "--json", statuses=(0, 1))
            answer = json.loads(text)
            verdicts[answer["verdict"]] = verdicts.get(answer["verdict"], 0) + 1
            judged("the seed", of_seed)
            if (folder / "adapted.safetensors").exists():
                judged("`triview adapt`, where it writes a model", scored("adapted.safetensors"))
                judged("`triview adapt`, or the seed", scored("adapted.safetensors"))
                (_, seed_loss), (_, loss) = found["the seed"][-1], found["`triview adapt`, or the seed"][-1]
                off.append((answer["risk"] - loss) / answer["standard_error"])
                off.append((answer["seed"]["risk"] - seed_loss) / answer["seed"]["standard_error"])
            else:
                judged("`triview adapt`, or the seed", of_seed)
            if asked.beside:
                source, target = (old, old_labels), (new[taken], new_labels[taken])
                for weight in (1.0, 10.0):
                    judged(f"source and labels, each of these {weight:.0f} times", said(refitted(source, target, known, weight), test))
                judged("self-training", said(self_trained(source, target, known), test))
                judged("importance-weighted", said(importance_weighted(source, target, known), test))
                judged("CORAL", coral(source, target, known, test))
    print("| | draws | error rate | its worst | log risk | its worst |\n|---|---|---|---|---|---|")
    for way, values in found.items():
        errors, losses = np.array(values).T
        print(f"| {way} | {len(values)} | {errors.mean():.4f} | {errors.max():.4f} | {losses.mean():.3f} | {losses.max():.3f} |")
    print(f"\nverdicts {verdicts}; printed risks off by at most {max(map(abs, off), default=0):.1f} of their standard errors")


if __name__ == "__main__":
    main()
