#!/usr/bin/env python3
"""Train a model of one's own on surrogate labels: no label of the new domain is looked at before the last lines.

Three views of 5 features each, three classes. A seed model is trained on 300 labelled rows of an old domain; in the new one
the views' features are stretched, and the seed model errs. `triview label` writes for each row and view what the other
views say of its class. The loss of the new model is linear in these labels, so it is the true one on average:

    E[A(theta; x)] - sum_v E[ sum_j W_-v,j f_v(theta; x_v, j) ]

Needs numpy and the program triview (or its path as the first argument).
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

VIEWS, CLASSES, FEATURES = ("a", "b", "c"), 3, 5


def draw(rows, stretch, rng, means):
    """Features (rows, views, features) and classes."""
    classes = rng.integers(CLASSES, size=rows)
    x = means[:, classes].transpose(1, 0, 2) + rng.standard_normal((rows, len(VIEWS), FEATURES))
    return x * (1 + stretch * np.arange(FEATURES)), classes


def scores(theta, x):
    """f_v(theta; x_v, j): (rows, views, classes)."""
    weights, bias = theta
    return np.einsum("nvf,vfj->nvj", x, weights) + bias / len(VIEWS)


def train(x, labels, steps=2000, rate=0.5, radius=10.0):
    """Minimises mean(logsumexp(sum_v f_v)) - mean(sum_v labels_v . f_v) in a ball; labels (rows, views, classes).

    Surrogates have negative entries, so without the ball (or another bound) the loss can go below any number.
    """
    scale = x.std(axis=0)
    x = x / scale
    theta = [np.zeros((len(VIEWS), FEATURES, CLASSES)), np.zeros(CLASSES)]
    for _ in range(steps):
        total = scores(theta, x).sum(axis=1)
        p = np.exp(total - total.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        slope = p[:, None, :] - labels
        theta[0] -= rate * np.einsum("nvf,nvj->vfj", x, slope) / len(x)
        theta[1] -= rate * slope.mean(axis=(0, 1))
        norm = np.sqrt(sum((part**2).sum() for part in theta))
        theta = [part * min(1.0, radius / norm) for part in theta]
    return theta[0] / scale[:, :, None], theta[1]


def error_rate(theta, x, classes):
    return (scores(theta, x).sum(axis=1).argmax(axis=1) != classes).mean()


def one_hot(classes):
    return np.repeat(np.eye(CLASSES)[classes][:, None, :], len(VIEWS), axis=1)


def surrogate_labels(triview, table):
    """What `triview label` says of a score table, as (rows, views, classes)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.csv")
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(f"{view}:{j}" for view in VIEWS for j in range(CLASSES))
            writer.writerows(table.reshape(len(table), -1))
        output = Path(folder, "labels.npy")
        subprocess.run([triview, "label", path, "-o", output], check=True)
        # The last entry of the second axis is the posterior of all views, which is no label for any of them.
        return np.load(output)[:, :-1]


def main():
    triview = sys.argv[1] if len(sys.argv) > 1 else "triview"
    rng = np.random.default_rng(1)
    means = rng.standard_normal((len(VIEWS), CLASSES, FEATURES))
    old, old_classes = draw(300, 0.0, rng, means)
    new, classes = draw(20_000, 1.5, rng, means)
    fresh, fresh_classes = draw(20_000, 1.5, rng, means)

    seed = train(old, one_hot(old_classes))
    adapted = train(new, surrogate_labels(triview, scores(seed, new)))
    supervised = train(new, one_hot(classes))
    for name, theta in [("seed", seed), ("surrogate labels", adapted), ("true labels", supervised)]:
        print(f"{name:17} error rate on fresh rows {error_rate(theta, fresh, fresh_classes):.4f}")


if __name__ == "__main__":
    main()
