"""Views that depend on each other a little: how often the test sees it, and what the wider interval covers where it does not.

    python3 scripts/dependence.py [--program FILE] [--draws N] [--seed S]

Draws populations of its own (class means in five dimensions, normal with scale 0.8, in each view; the model's means off by 0.3; unit
normal noise; scores minus half the squared distance to the model's means), and prints the tables of `docs/when-not-to-trust.md`. Needs
NumPy and pyarrow.
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

VIEWS, DIMENSIONS = 3, 5
# What is left of the mean of a hard row.
SIGNAL = 0.3
# Rows from which the population's own risk is taken.
MANY = 100_000

LEVEL = [("independent", k, 10_000, {}) for k in (2, 3, 4, 10)]
POWER = [
    ("20% hard", 4, 10_000, {"hard": 0.2}),
    ("20% hard", 4, 50_000, {"hard": 0.2}),
    ("5% hard", 2, 10_000, {"hard": 0.05}),
]
MILD = [
    ("pair shares 0.1 of its noise", 2, {"pair": 0.1}),
    ("pair shares 0.2 of its noise", 2, {"pair": 0.2}),
    ("pair shares 0.1 of its noise", 4, {"pair": 0.1}),
    ("pair shares 0.2 of its noise", 4, {"pair": 0.2}),
    ("all share 0.1 of their noise", 2, {"common": 0.1}),
    ("all share 0.1 of their noise", 4, {"common": 0.1}),
    ("5% hard", 2, {"hard": 0.05}),
    ("10% hard", 4, {"hard": 0.1}),
    ("20% hard", 4, {"hard": 0.2}),
    ("40% hard", 4, {"hard": 0.4}),
    ("signal scaled by exp(0.1 N)", 2, {"scale": 0.1}),
    ("signal scaled by exp(0.35 N)", 4, {"scale": 0.35}),
    ("independent", 2, {}),
    ("independent", 3, {}),
    ("independent", 4, {}),
]
STRONG = [
    *(("pair shares 0.3 of its noise", k, {"pair": 0.3}) for k in (2, 3, 4)),
    *(("pair shares 0.5 of its noise", k, {"pair": 0.5}) for k in (2, 3, 4, 10)),
    ("pair shares 0.8 of its noise", 4, {"pair": 0.8}),
    *(("all share 0.3 of their noise", k, {"common": 0.3}) for k in (2, 3, 4, 10)),
    ("all share 0.5 of their noise", 4, {"common": 0.5}),
    *(("the third is the first with noise of 0.5", k, {"copy": 0.5}) for k in (2, 4, 10)),
    *(("30% hard", k, {"hard": 0.3}) for k in (2, 4, 10)),
    ("20% hard, pair shares 0.3 of its noise", 4, {"hard": 0.2, "pair": 0.3}),
    ("signal scaled by exp(0.5 N)", 3, {"scale": 0.5}),
]


def draw(seed, k, rows, hard=0.0, pair=0.0, common=0.0, scale=0.0, copy=0.0):
    """Scores by row, view and class, and the class of each row."""
    rng = np.random.default_rng(seed)
    means = 0.8 * rng.normal(size=(VIEWS, k, DIMENSIONS))
    model = means + 0.3 * rng.normal(size=means.shape)
    labels = rng.integers(k, size=rows)
    signal = np.where(rng.random(rows) < hard, SIGNAL, 1.0)
    if scale:
        signal = np.exp(scale * rng.normal(size=rows))
    noise = rng.normal(size=(rows, VIEWS, DIMENSIONS))
    for share, views in ((pair, (0, 1)), (common, (0, 1, 2))):
        if share:
            shared = rng.normal(size=(rows, DIMENSIONS))
            for view in views:
                noise[:, view] = np.sqrt(share) * shared + np.sqrt(1 - share) * noise[:, view]
    scores = np.empty((rows, VIEWS, k))
    for view in range(VIEWS):
        seen = means[view][labels] * signal[:, None] + noise[:, view]
        scores[:, view] = -0.5 * ((seen[:, None] - model[view]) ** 2).sum(-1)
    if copy:
        scores[:, 2] = scores[:, 0] + copy * rng.normal(size=scores[:, 0].shape)
    return scores - scores.max(-1, keepdims=True), labels


def truth(scores, labels):
    """The log risk and the error rate by the labels."""
    total = scores.sum(1)
    total -= total.max(-1, keepdims=True)
    losses = np.log(np.exp(total).sum(-1)) - total[np.arange(len(labels)), labels]
    return losses.mean(), (total.argmax(-1) != labels).mean()


def estimate(program, scores):
    columns = {f"v{view}:{j}": scores[:, view, j] for view in range(VIEWS) for j in range(scores.shape[2])}
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "scores.parquet"
        pyarrow.parquet.write_table(pyarrow.table(columns), table)
        command = [program, "estimate", table, "--json", "--quiet", "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def rejects(answer):
    return answer["diagnostics"]["independence"]["verdict"] == "fail"


def rejected(task):
    program, seed, k, rows, kind = task
    return rejects(estimate(program, draw(seed, k, rows, **kind)[0]))


def covers(interval, value):
    return interval is not None and interval["low"] <= value <= interval["high"]


def compared(task):
    """What one draw of 10,000 rows says, beside its population's risk and error rate."""
    program, seed, k, kind = task
    scores, labels = draw(seed, k, MANY, **kind)
    risk, error = truth(scores, labels)
    answer = estimate(program, scores[:10_000])
    own, wider = answer["interval"], answer.get("wider_interval")
    of_error = answer.get("error_rate_interval")
    known = wider is not None and None not in (own["low"], own["high"])
    width = (wider["high"] - wider["low"]) / max(own["high"] - own["low"], 1e-12) if known else np.nan
    return (
        rejects(answer),
        answer["trusted"],
        known and covers(own, risk),
        known and covers(wider, risk),
        width,
        covers(of_error, error),
        covers(answer.get("error_rate_wider_interval"), error),
        "bound" in answer,
        answer["risk"] <= risk,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/triview")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--seed", type=int, default=70_000)
    args = parser.parse_args()
    with multiprocessing.Pool() as pool:
        print("| views | classes | rows | rejected | draws |\n|---|---|---|---|---|")
        for name, k, rows, kind in LEVEL + POWER:
            count = 200 if name == "independent" else 50
            seeds = range(args.seed, args.seed + count)
            found = pool.map(rejected, [(args.program, seed, k, rows, kind) for seed in seeds], chunksize=1)
            print(f"| {name} | {k} | {rows:,} | {sum(found)} | {count} |", flush=True)
        head = "| views | classes | rejected | trusted | covered | covered, wider | times as wide | error rate covered | covered, wider |"
        print(f"\n{head}\n|{'---|' * 9}")
        bounds = []
        for name, k, kind in MILD:
            seeds = range(args.seed, args.seed + args.draws)
            found = np.array(pool.map(compared, [(args.program, seed, k, kind) for seed in seeds], chunksize=1), float)
            trusted = found[found[:, 1] == 1]
            bounds.append(found[(found[:, 7] == 1)] if kind else found[:0])
            share = [f"{value:.0%}" for value in trusted[:, [2, 3, 5, 6]].mean(0)] if len(trusted) else ["-"] * 4
            width = f"{np.nanmedian(trusted[:, 4]):.1f}" if len(trusted) else "-"
            row = [name, k, f"{found[:, 0].mean():.0%}", f"{len(trusted)} of {len(found)}", *share[:2], width, *share[2:]]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
        bounds = np.concatenate(bounds)
        print(f"\n`at least` held in {bounds[:, 8].mean():.0%} of {len(bounds)} answers that said so.")
        print("\n| views | classes | rejected | trusted | `at least` | held |\n|---|---|---|---|---|---|")
        bounds = []
        for name, k, kind in STRONG:
            seeds = range(args.seed, args.seed + args.draws // 2)
            found = np.array(pool.map(compared, [(args.program, seed, k, kind) for seed in seeds], chunksize=1), float)
            bounds.append(found[found[:, 7] == 1])
            said = len(bounds[-1]), int(bounds[-1][:, 8].sum())
            row = [name, k, f"{found[:, 0].mean():.0%}", f"{int(found[:, 1].sum())} of {len(found)}", *said]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
        bounds = np.concatenate(bounds)
        print(f"\n`at least` held in {int(bounds[:, 8].sum())} of {len(bounds)} answers that said so.")


if __name__ == "__main__":
    main()
