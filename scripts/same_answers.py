#!/usr/bin/env python3
"""Compare what two builds of `triview` answer to the same commands.

A change that only moves code must leave every number as it was. This makes tables with the first binary, puts the same
commands to both, and compares exit codes and JSON: numbers to 1e-9 of their size (chains to 1e-6), everything else exactly. Differences that
are meant stand in MEANT, each with its reason.

    scripts/same_answers.py --old OLD_TRIVIEW --new target/release/triview
"""

import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

TOLERANCE = 1e-9
# Rounding grows where a fit goes on from it by thousands of stochastic steps.
LOOSER = {"hmm": 1e-6, "hmm by position": 1e-6}

# Tables that the first binary makes, or that are made from those.
SIMULATED = {
    "six": "--preset six --rows 6000 -o six.csv",
    "six.parquet": "--preset six --rows 6000 -o six.parquet",
    "six.arrow": "--preset six --rows 6000 -o six.arrow",
    "six.npy": "--preset six --rows 6000 -o six.npy",
    "two": "--preset two --rows 5000 -o two.csv",
    "three": "--preset three --rows 5000 -o three.csv",
    "ten": "--preset ten --rows 6000 -o ten.parquet",
    "five views": "--preset three --views 5 --rows 6000 -o views.csv",
    "missing": "--preset six --missing 0.2 --rows 8000 -o missing.csv",
    "subclasses": "--preset three --subclasses 2 --rows 8000 -o subclasses.csv",
    "seventy": "--preset two-hundred --classes 70 --rows 12000 -o seventy.npy",
    "crowd": "--crowd --rows 1000 -o crowd.csv",
    "copiers": "--crowd --rows 800 --annotators 12 --votes 6 --copiers 2 --classes 3 -o copiers.parquet",
    "chains": "--hmm --classes 3 --stay 0.75 --sequences 1500 --shortest 20 --longest 30 -o chains.csv --transition transition.csv",
}

# The commands: what each is called, and its words. `{name}` are files.
ASKED = {
    "csv": "estimate six.csv --json",
    "csv, metrics": "estimate six.csv --metrics --json",
    "parquet": "estimate six.parquet --json",
    "arrow": "estimate six.arrow --json",
    "npy": "estimate six.npy --json",
    "one thread": "estimate six.csv --threads 1 --json",
    "other seed": "estimate six.csv --seed 7 --json",
    "level": "estimate six.csv --level 0.8 --json",
    "hinge": "estimate six.csv --loss hinge --json",
    "zero-one": "estimate six.csv --loss zero-one --json",
    "exponential": "estimate three.csv --loss exponential --json",
    "error": "estimate six.csv --loss error --json",
    "brier": "estimate three.csv --loss brier --json",
    "scores": "estimate three.csv --feature-map scores --json",
    "softmax": "estimate six.csv --feature-map softmax --json",
    "posterior": "estimate six.csv --feature-map posterior --json",
    "two classes": "estimate two.csv --metrics --json",
    "ten classes": "estimate ten.parquet --json",
    "probabilities": "estimate probabilities.csv --input probability --json",
    "five views": "estimate views.csv --json",
    "five views by hand": "estimate views.csv --group a+b,c,d+e --json",
    "missing views": "estimate missing.csv --json",
    "covariates": "estimate covariates.csv --features x,y --latent 6 --json",
    "clusters": "estimate keyed.csv --cluster day --json",
    "segments": "estimate keyed.csv --by month --json",
    "few labels": "estimate sparse.csv --label known --json",
    "label budget": "estimate sparse.csv --label known --label-budget 0.05 --json",
    "few labels, states": "estimate sparse.csv --label known --latent 4 --json",
    "latent 4": "estimate subclasses.csv --latent 4 --json",
    "latent auto": "estimate subclasses.csv --latent auto --json",
    "latent counts": "estimate subclasses.csv --latent 0=2,1=2,2=2 --json",
    "amplify": "estimate six.csv --amplify 8 --json",
    "many classes": "estimate seventy.npy --json",
    "diagnose": "diagnose six.csv --json",
    "diagnose dependent": "diagnose dependent.csv --json",
    "estimate dependent": "estimate dependent.csv --json",
    "diagnose many": "diagnose seventy.npy --json",
    "compare": "compare three.csv --label label --json",
    "compare source": "compare three.csv --source three.csv --label label --json",
    "votes": "estimate --votes crowd.csv --json",
    "votes wide": "estimate --votes wide.csv --json",
    "votes unsmoothed": "estimate --votes copiers.parquet --smoothing 0 --json",
    "hmm": "hmm chains.csv --transition transition.csv --json",
    "hmm by position": "hmm chains.csv --transition transition.csv --by-position --json",
    "state": "moments six.csv -o {out}/six.moments ; estimate {out}/six.moments --json",
    "merged": "moments half1.csv -o {out}/h1.moments ; moments half2.csv --like {out}/h1.moments -o {out}/h2.moments"
    " ; estimate {out}/h1.moments {out}/h2.moments --json",
    "second pass": "moments six.csv --feature-map softmax -o {out}/s.moments"
    " ; estimate {out}/s.moments --save-posterior {out}/p.posterior --json"
    " ; moments six.csv --posterior {out}/p.posterior -o {out}/s2.moments ; estimate {out}/s2.moments --json",
    "label": "label six.csv -o {out}/labels.csv ; :csv {out}/labels.csv",
    "train, score, adapt": "train old.csv --label label -o {out}/seed.safetensors"
    " ; score new.csv --model {out}/seed.safetensors --label label -o {out}/scores.csv ; :csv {out}/scores.csv"
    " ; adapt new.csv --model {out}/seed.safetensors -o {out}/adapted.safetensors --json",
    "adapt with labels": "train old.csv --label label -o {out}/seed2.safetensors"
    " ; adapt new.csv --model {out}/seed2.safetensors --source old.csv --source-label label"
    " -o {out}/adapted2.safetensors --json",
    "adapt hinge": "train old.csv --label label --method lbfgs -o {out}/seed3.safetensors"
    " ; adapt new.csv --model {out}/seed3.safetensors --loss hinge -o {out}/adapted3.safetensors --json",
    "two views": "estimate pair.csv --json",
    "empty": "estimate empty.csv --json",
}

# What is meant to differ: the command (or None for all), where, and why. A place is a dotted path; `*` stands for any step.
MEANT = [
    (None, "*.said.version", "answers say how they were made"),
    (None, "*.said.seed", "answers say how they were made"),
    (None, "*.said.inputs", "answers say how they were made"),
    (None, "*.said.random_seed", "answers say how they were made"),
    (None, "*.said.diagnostics.alarm_details", "alarms carry a code, their numbers and the remedy"),
    (None, "*.said.alarm_details", "alarms carry a code, their numbers and the remedy"),
    (None, "*.said.labels.alarm_details", "alarms carry a code, their numbers and the remedy"),
    (None, "*.said.by.segments.*.diagnostics.alarm_details", "alarms carry a code, their numbers and the remedy"),
    (None, "*.said.error_rate_interval", "the error rate has its interval"),
    (None, "*.said.without_labels.error_rate_interval", "the error rate has its interval"),
    (None, "*.said.by.segments.*.error_rate_interval", "the error rate has its interval"),
    (None, "*.said.error_rate_absent", "saved sums are called moments"),
    ("latent 4", "*.said.diagnostics.alarms", "alarms judge the answer that is printed"),
    ("softmax", "*.said.interval", "what is unknown is null, not absent"),
    ("softmax", "*.said.intervals", "what is unknown is null, not absent"),
    ("many classes", "*.said.interval", "what is unknown is null, not absent"),
    ("many classes", "*.said.intervals", "what is unknown is null, not absent"),
    ("second pass", "*.said.interval", "what is unknown is null, not absent"),
    ("second pass", "*.said.intervals", "what is unknown is null, not absent"),
]


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def derive():
    """The tables that are made from the simulated ones."""
    rng = random.Random(5)
    header, rows = read("six.csv")
    at = [i for i, name in enumerate(header) if ":" in name]
    views = sorted({name.split(":")[0] for name in header if ":" in name})

    def softmax(row):
        out = list(row)
        for view in views:
            columns = [i for i in at if header[i].startswith(view + ":")]
            top = max(float(row[i]) for i in columns)
            weights = [math.exp(float(row[i]) - top) for i in columns]
            for i, weight in zip(columns, weights):
                out[i] = repr(max(weight / sum(weights), 1e-300))
        return out

    write("probabilities.csv", header, [softmax(row) for row in rows])
    write("keyed.csv", [*header, "day", "month"], [[*row, i // 40, f"m{i * 3 // len(rows)}"] for i, row in enumerate(rows)])
    write("half1.csv", header, rows[:3000])
    write("half2.csv", header, rows[3000:])
    pair = [i for i, name in enumerate(header) if not name.startswith(views[2] + ":")]
    write("pair.csv", [header[i] for i in pair], [[row[i] for i in pair] for row in rows])
    write("empty.csv", header, [])
    # A fifth of the rows has the second view's scores in the first.
    first = [i for i in at if header[i].startswith(views[0] + ":")]
    second = [i for i in at if header[i].startswith(views[1] + ":")]

    def copied(row):
        out = list(row)
        if rng.random() < 0.3:
            for a, b in zip(first, second):
                out[a] = repr(float(row[b]) + 0.3 * rng.gauss(0, 1))
        return out

    write("dependent.csv", header, [copied(row) for row in rows])
    header, rows = read("three.csv")
    label = header.index("label")
    write("sparse.csv", [*header, "known"], [[*row, row[label] if rng.random() < 0.05 else ""] for row in rows])
    header, rows = read("subclasses.csv")
    view = sorted({name.split(":")[0] for name in header if ":" in name})
    extra = [f"{v}:{x}" for v in view for x in "xy"]
    label = header.index("label")
    kind = [float(row[label]) + rng.random() for row in rows]
    write("covariates.csv", [*header, *extra], [[*row, *(repr(k + rng.gauss(0, 1)) for _ in extra)] for row, k in zip(rows, kind)])
    # A crowd of three, one row an item.
    wide = []
    for _ in range(900):
        truth = rng.randrange(3)
        votes = [truth if rng.random() < 0.75 else rng.randrange(3) for _ in range(4)]
        wide.append([vote if rng.random() < 0.9 else "" for vote in votes])
    write("wide.csv", ["ann", "bob", "cid", "dan"], wide)
    # Features of three classes; the second table is shifted.
    means = [[[rng.gauss(0, 1.2) for _ in range(4)] for _ in range(3)] for _ in range(3)]
    names = [f"{v}:{f}" for v in "abc" for f in range(4)]
    for path, shift, count in [("old.csv", 0.0, 1500), ("new.csv", 0.7, 3000)]:
        table = []
        for _ in range(count):
            truth = rng.randrange(3)
            table.append([*(repr(round(m + shift + rng.gauss(0, 1), 6)) for v in range(3) for m in means[v][truth]), truth])
        write(path, [*names, "label"], table)


def answers(binary, words, out):
    """Exit codes and what was printed, command by command; tables that were written come as columns of numbers."""
    said = []
    for command in words.split(" ; "):
        words_of = [word.replace("{out}", out) for word in command.split()]
        if words_of[0] == ":csv":
            header, rows = read(words_of[1])
            said.append({"header": header, "first": rows[:20], "sums": sums(rows)})
            continue
        done = subprocess.run([binary, *words_of, "-q"], capture_output=True, text=True)
        try:
            printed = json.loads(done.stdout)
        except json.JSONDecodeError:
            printed = done.stdout.replace(out, "OUT")
        said.append({"exit": done.returncode, "said": printed, "error": bool(done.stderr)})
    return said


def sums(rows):
    total = [0.0] * len(rows[0])
    for row in rows:
        for i, cell in enumerate(row):
            try:
                total[i] += float(cell)
            except ValueError:
                pass
    return total


def differences(old, new, tolerance, path=""):
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            where = f"{path}.{key}" if path else key
            if key not in new:
                yield where, old[key], "(absent)"
            elif key not in old:
                yield where, "(absent)", new[key]
            else:
                yield from differences(old[key], new[key], tolerance, where)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, tolerance, f"{path}.{i}" if path else str(i))
    elif number(old) is not None and number(new) is not None:
        a, b = number(old), number(new)
        if abs(a - b) > tolerance * max(1.0, abs(a), abs(b)):
            yield path, old, new
    elif old != new:
        yield path, old, new


def number(value):
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def meant(name, path):
    for command, place, reason in MEANT:
        steps, given = place.split("."), path.split(".")
        fits = len(steps) <= len(given) and all(s in ("*", g) for s, g in zip(steps, given))
        if command in (None, name) and fits:
            return reason
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, help="the binary that was")
    parser.add_argument("--new", required=True, help="the binary that is")
    parser.add_argument("--only", help="commands whose name begins so")
    parser.add_argument("--keep", help="a folder for the tables and the old answers, made again only where they are missing")
    args = parser.parse_args()
    old, new = os.path.abspath(args.old), os.path.abspath(args.new)
    folder = os.path.abspath(args.keep) if args.keep else tempfile.mkdtemp(prefix="same-answers-")
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    if not os.path.exists("empty.csv"):
        for words in SIMULATED.values():
            subprocess.run([old, "simulate", *words.split(), "-q"], check=True, stdout=subprocess.DEVNULL)
        derive()
    wrong, reasons = 0, {}
    for name, words in ASKED.items():
        if args.only and not name.startswith(args.only):
            continue
        kept = f"{name.replace(' ', '_').replace(',', '')}.old.json"
        if os.path.exists(kept):
            with open(kept) as file:
                before = json.load(file)
        else:
            os.makedirs("out-old", exist_ok=True)
            before = answers(old, words, "out-old")
            with open(kept, "w") as file:
                json.dump(before, file)
        os.makedirs("out-new", exist_ok=True)
        found = list(differences(before, answers(new, words, "out-new"), LOOSER.get(name, TOLERANCE)))
        unmeant = []
        for path, a, b in found:
            reason = meant(name, path)
            if reason:
                reasons.setdefault(reason, []).append(f"{name}: {path}")
            else:
                unmeant.append((path, a, b))
        print(f"{'differs' if unmeant else 'same':8} {name}")
        for path, a, b in unmeant[:12]:
            print(f"    {path}: {str(a)[:120]} -> {str(b)[:120]}")
        if len(unmeant) > 12:
            print(f"    and {len(unmeant) - 12} more")
        wrong += bool(unmeant)
    for reason, places in reasons.items():
        print(f"meant: {reason} ({len(places)} places, such as {places[0]})")
    print(f"{wrong} of the commands differ" if wrong else "every answer is the same")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
