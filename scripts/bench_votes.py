"""Compares votes with crowd-kit's DawidSkene: likelihood, accuracy of the labels, processor seconds.

    python -m venv .venv && .venv/bin/pip install --requirement scripts/requirements-bench.txt   (what `make bench` does)
    .venv/bin/python scripts/bench_votes.py [--draws N] [--votes N] [--json]

Simulated crowds of 2 to 10 classes and 20 to 500 annotators, five votes an item, spammers and adversaries among them. Of each
the table has the accuracy of the majority, of crowd-kit's labels and of triview's; and by how much the log-likelihood of
triview's unsmoothed fit is above those of EM from the majority, its own and crowd-kit's, the smallest of all draws. Then a
million votes: processor seconds from the votes to the posterior of every item.

Exits with 1 when a likelihood is below EM from the majority, the mean accuracy is more than 0.1 point below crowd-kit's, or
all of what triview says of a crowd is not there 10 times as fast: the test of all annotators at once may double the time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote

SETTINGS = [  # classes, annotators, items, spammers, adversaries
    (2, 20, 2000, 0.2, 0.05),
    (2, 500, 10000, 0.3, 0.1),
    (3, 100, 5000, 0.4, 0.05),
    (5, 50, 5000, 0.2, 0.1),
    (5, 500, 10000, 0.4, 0.1),
    (10, 20, 2000, 0.2, 0.05),
    (10, 100, 5000, 0.3, 0.1),
    (10, 500, 10000, 0.2, 0.05),
]
VOTES = 5


def crowd(rng, classes, annotators, items, spammers, adversaries):
    """Confusion matrices (annotator, vote, class), the classes of the items, and their votes."""
    prior = 0.25 / classes + 0.75 * rng.dirichlet(np.ones(classes))
    truth = rng.choice(classes, items, p=prior)
    confusion = np.empty((annotators, classes, classes))
    for annotator in range(annotators):
        kind = rng.random()
        if kind < spammers:
            confusion[annotator] = rng.dirichlet(np.ones(classes))[:, None]
            continue
        for j in range(classes):
            skill = rng.uniform(0.5, 0.95)
            others = (1 - skill) * rng.dirichlet(np.ones(classes - 1))
            confusion[annotator, :, j] = np.insert(others, j, skill)
        if kind < spammers + adversaries:
            confusion[annotator] = np.roll(confusion[annotator], rng.integers(1, classes), axis=0)
    item = np.repeat(np.arange(items), VOTES)
    annotator = np.concatenate([
        rng.random((min(5000, items - at), annotators)).argpartition(VOTES, axis=1)[:, :VOTES].ravel()
        for at in range(0, items, 5000)
    ])
    cumulative = confusion.cumsum(axis=1)[annotator, :, truth[item]]
    vote = (rng.random(len(item))[:, None] > cumulative).sum(axis=1).clip(max=classes - 1)
    return truth, pd.DataFrame({"task": item, "worker": annotator, "label": vote})


def log_likelihood(data, priors, errors, classes):
    """Of the votes under crowd-kit's crowd, whose matrices lack the votes that an annotator never gave."""
    priors = priors.reindex(range(classes)).fillna(1e-300).to_numpy()
    rows = errors.reindex(columns=range(classes)).fillna(1e-300)
    logs = np.log(rows.loc[list(zip(data.worker, data.label))].to_numpy().clip(1e-300))
    sums = np.zeros((data.task.max() + 1, classes))
    np.add.at(sums, data.task.to_numpy(), logs)
    joint = sums + np.log(priors)
    top = joint.max(axis=1)
    return float((top + np.log(np.exp(joint - top[:, None]).sum(axis=1))).sum())


CARGO = ["cargo", "run", "--release", "--quiet", "--package", "triview", "--example", "dawid_skene", "--"]


def triview(program, data, classes, annotators, items, smoothing=None):
    command = [program] if program else CARGO
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        data[["task", "worker", "label"]].to_numpy().astype("<u4").tofile(file)
        file.flush()
        numbers = [classes, annotators, items] + ([] if smoothing is None else [smoothing])
        run = subprocess.run(command + [file.name] + [str(n) for n in numbers], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--program", help="the example `dawid_skene`, built [default: built and run by cargo]")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows, failed = [], []
    for at, setting in enumerate(SETTINGS):
        classes, annotators, items, *_ = setting
        draws = []
        for draw in range(args.draws):
            truth, data = crowd(np.random.default_rng([7, at, draw]), *setting)
            model = DawidSkene(n_iter=100).fit(data)
            theirs = log_likelihood(data, model.priors_, model.errors_, classes)
            plain = triview(args.program, data, classes, annotators, items, 0)
            ours = triview(args.program, data, classes, annotators, items)
            accuracy = lambda labels: float((np.asarray(labels) == truth).mean())  # noqa: E731
            draws.append({
                "majority": accuracy(MajorityVote().fit_predict(data).sort_index()),
                "crowdkit": accuracy(model.labels_.sort_index()),
                "triview": accuracy(ours["labels"]),
                "estimated": 1 - ours["error_rate"],
                "above_majority": plain["objective"] - plain["majority_objective"],
                "above_crowdkit": plain["log_likelihood"] - theirs,
                "objective_above": ours["objective"] - ours["majority_objective"],
            })
        mean = {key: float(np.mean([draw[key] for draw in draws])) for key in ("majority", "crowdkit", "triview", "estimated")}
        least = {key: min(draw[key] for draw in draws) for key in ("above_majority", "above_crowdkit", "objective_above")}
        rows.append({"setting": setting, **mean, **least})
        if min(least.values()) < 0:
            failed.append(f"a likelihood below EM from the majority at {setting}: {least}")
    ours, theirs = (float(np.mean([row[key] for row in rows])) for key in ("triview", "crowdkit"))
    if ours < theirs - 0.001:
        failed.append(f"mean accuracy {ours:.4f} against crowd-kit's {theirs:.4f}")

    items = args.votes // VOTES
    speed = []
    for setting in ((5, 500, items, 0.2, 0.05), (10, 500, items, 0.4, 0.1)):
        truth, data = crowd(np.random.default_rng(11), *setting)
        start = time.process_time()
        model = DawidSkene(n_iter=100).fit(data)
        seconds = time.process_time() - start
        own = triview(args.program, data, *setting[:3])
        speed.append({
            "setting": setting, "votes": len(data), "crowdkit": seconds, "crowdkit_iterations": len(model.loss_history_),
            "triview": own["seconds"], "iterations": own["iterations"], "whole": own["whole_seconds"],
            "ratio": seconds / own["seconds"], "whole_ratio": seconds / own["whole_seconds"],
            "crowdkit_accuracy": float((model.labels_.sort_index().to_numpy() == truth).mean()),
            "accuracy": float((np.asarray(own["labels"]) == truth).mean()),
        })
        if speed[-1]["whole_ratio"] < 10:
            failed.append(f"{speed[-1]['whole_ratio']:.1f} times as fast at {setting}")

    if args.json:
        print(json.dumps({"accuracy": rows, "mean": {"triview": ours, "crowdkit": theirs}, "speed": speed}))
    else:
        print("| classes | annotators | items | spammers | adversaries | majority | crowd-kit | triview | triview's own estimate | least "
              "gain of log-likelihood over EM from the majority | over crowd-kit |\n|---|---|---|---|---|---|---|---|---|---|---|")
        for row in rows:
            cells = [str(cell) for cell in row["setting"]]
            cells += [f"{row[key]:.4f}" for key in ("majority", "crowdkit", "triview", "estimated")]
            print("| " + " | ".join(cells + [f"{row['above_majority']:.2f}", f"{row['above_crowdkit']:.2f}"]) + " |")
        print(f"\nmean accuracy: triview {ours:.4f}, crowd-kit {theirs:.4f}\n")
        print("| classes | annotators | votes | crowd-kit, s | iterations | triview EM, s | iterations | times as fast | triview "
              "estimate, s | times as fast |\n|---|---|---|---|---|---|---|---|---|---|")
        for row in speed:
            print(f"| {row['setting'][0]} | {row['setting'][1]} | {row['votes']} | {row['crowdkit']:.2f} | {row['crowdkit_iterations']} | "
                  f"{row['triview']:.3f} | {row['iterations']} | {row['ratio']:.0f} | {row['whole']:.2f} | {row['whole_ratio']:.1f} |")
    for failure in failed:
        print(failure, file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
