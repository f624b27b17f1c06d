#!/usr/bin/env python3
"""Train a network of one's own on surrogate labels: no label of the new domain is looked at before the last lines.

Three views of four features each, three classes, each of which is two clusters in every view, so that no linear model will do. The seed
network learns from 600 labelled rows of an old domain; in the new one the features are mixed and stretched, and it errs. `triview.label`
gives for each row and view what the *other* views say of its class, numbers W with E[W | class j] = e_j. Whatever gives scores f_v to
each view by itself has on average the same loss with them as with true labels:

    E[log sum_j exp sum_v f_v(x_v, j)] - sum_v E[sum_j W_-v,j f_v(x_v, j)]

`loss` is all that a framework with gradients needs; here they are written out, in NumPy.
"""

import numpy as np

import triview as tv

VIEWS, CLASSES, FEATURES, HIDDEN = 3, 3, 4, 32


def draw(rows, mixing, rng):
    """Features (rows, views, features) and classes: of each class two clusters a view, drawn in each view by itself."""
    means = 1.3 * np.random.default_rng(11).standard_normal((VIEWS, CLASSES, 2, FEATURES))
    classes = rng.integers(CLASSES, size=rows)
    clusters = rng.integers(2, size=(rows, VIEWS))
    x = means[np.arange(VIEWS), classes[:, None], clusters] + rng.standard_normal((rows, VIEWS, FEATURES))
    return x @ mixing, classes


def loss(scores, labels):
    """Give the loss of scores (rows, views, classes) under labels of the same shape, and its gradient by the scores."""
    total = scores.sum(axis=1)
    largest = total.max(axis=1, keepdims=True)
    exponentials = np.exp(total - largest)
    sums = exponentials.sum(axis=1, keepdims=True)
    log_partition = largest + np.log(sums)
    value = log_partition.mean() - (labels * scores).sum(axis=(1, 2)).mean()
    return value, ((exponentials / sums)[:, None, :] - labels) / len(scores)


class Network:
    """One hidden layer a view, and Adam with weight decay: surrogates are noisy and below 0, and are not to be fitted exactly."""

    def __init__(self, rng):
        shapes = [(VIEWS, FEATURES, HIDDEN), (VIEWS, HIDDEN), (VIEWS, HIDDEN, CLASSES), (VIEWS, CLASSES)]
        self.parameters = [rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in shapes]

    def hidden(self, x):
        weights, bias, _, _ = self.parameters
        return np.maximum(np.einsum("nvf,vfh->nvh", x, weights, optimize=True) + bias, 0)

    def scores(self, x):
        _, _, weights, bias = self.parameters
        return np.einsum("nvh,vhj->nvj", self.hidden(x), weights, optimize=True) + bias

    def gradient(self, x, slope):
        """Give the gradient by the parameters, of that by the scores."""
        hidden = self.hidden(x)
        back = np.einsum("nvj,vhj->nvh", slope, self.parameters[2], optimize=True) * (hidden > 0)
        first = np.einsum("nvf,nvh->vfh", x, back, optimize=True)
        return [
            first,
            back.sum(axis=0),
            np.einsum("nvh,nvj->vhj", hidden, slope, optimize=True),
            slope.sum(axis=0),
        ]

    def train(self, x, labels, rng, *, steps=1500, batch=500, rate=0.005, decay=0.2):
        first, second = ([np.zeros_like(part) for part in self.parameters] for _ in range(2))
        for step in range(1, steps + 1):
            rows = rng.integers(len(x), size=min(batch, len(x)))
            _, slope = loss(self.scores(x[rows]), labels[rows])
            now = rate * (1 - step / (steps + 1))
            for at, part in enumerate(self.gradient(x[rows], slope)):
                first[at] += 0.1 * (part - first[at])
                second[at] += 0.001 * (part**2 - second[at])
                mean, square = first[at] / (1 - 0.9**step), second[at] / (1 - 0.999**step)
                self.parameters[at] -= now * (mean / (np.sqrt(square) + 1e-8) + decay * self.parameters[at])
        return self

    def error_rate(self, x, classes):
        return (self.scores(x).sum(axis=1).argmax(axis=1) != classes).mean()


def one_hot(classes):
    """Give true labels: the same for every view."""
    return np.repeat(np.eye(CLASSES)[classes][:, None, :], VIEWS, axis=1)


def surrogate_labels(scores):
    """Give what the other views say of each row's class: (rows, views, classes)."""
    columns = tv.label(scores).to_dict()
    views = [[columns[f"surrogate.{view}:{j}"] for j in range(CLASSES)] for view in range(1, VIEWS + 1)]
    return np.array(views).transpose(2, 0, 1)


def main():
    rng = np.random.default_rng(1)
    mixing = (np.eye(FEATURES) + 0.35 * rng.standard_normal((FEATURES, FEATURES))) * np.linspace(
        0.7, 1.8, FEATURES
    )
    old, old_classes = draw(600, np.eye(FEATURES), rng)
    new, classes = draw(20_000, mixing, rng)
    fresh, fresh_classes = draw(20_000, mixing, rng)

    seed = Network(rng).train(old, one_hot(old_classes), rng)
    adapted = Network(rng).train(new, surrogate_labels(seed.scores(new)), rng)
    supervised = Network(rng).train(new, one_hot(classes), rng)

    print("error rate on fresh rows    true    estimated without labels")
    for name, network in [("seed", seed), ("surrogate labels", adapted), ("true labels", supervised)]:
        answer = tv.estimate(network.scores(fresh))
        low, high, _ = answer.error_rate_interval
        truth = network.error_rate(fresh, fresh_classes)
        print(f"{name:24}  {truth:.4f}    {answer.error_rate:.4f} ({low:.4f} to {high:.4f})")


if __name__ == "__main__":
    main()
