#!/usr/bin/env python3
"""What the estimate loses without each of its settings, or at half and twice its value: docs/settings.md.

Every variant is an edit of the sources, made in a copy under target/ablation, built there, and run on the same draws as
the build without an edit (crates/triview/examples/ablation.rs), so that differences are paired.

    scripts/ablation.py --write                          all variants, and the page
    scripts/ablation.py --draws 24 'no:pair*' 'blend:*'  some of them, on standard output

What was measured is kept beside the copy, and not measured again while the sources are the same. Only the standard library is needed.
scripts/mnist.sh obtains the images; without them their rows are left out.
"""

import argparse
import csv
import fnmatch
import hashlib
import io
import math
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
WORK = HERE / "target" / "ablation"
CORE = "crates/triview/src"
SETTINGS = f"{CORE}/settings.rs"
# A kind counts as worse or better from here on, in standard errors of the paired difference.
SURE = 2.0
DEPENDENT = {"hard"}
# Where these are in a variant's name nothing else can change than what has more latent states than classes.
OF_STATES = ("states:", "of-states")


def setting(module, name, *values):
    """Other values of a constant, which stands in a module of settings.rs, or in none."""
    for value in values:
        head = rf"(pub\(crate\) mod {module} \{{(?:(?!\npub).)*?" if module else "("
        pattern = rf"{head}pub\(crate\) const {name}: [^=]+ = )[^;]+;"
        label = f"{name.lower().replace('_', '-')}-{str(value).strip('[]').replace(', ', '..')}"
        yield f"{module or 'blend'}:{label}", [(SETTINGS, re.compile(pattern, re.S), rf"\g<1>{value};")]


def without(name, path, old, new):
    """An edit of the code."""
    yield f"no:{name}", [(f"{CORE}/{path}", old, new)]


def variants():
    """Each variant's name and its edits: a file, what it has, and what it has instead."""
    table = [
        setting("", "BLEND_POWER", 0, 4, 16),
        without(
            "kullback-leibler",
            "fit/target.rs",
            "Some(_) => vec![Distance::Squares, Distance::KullbackLeibler]",
            "Some(_) => vec![Distance::Squares]",
        ),
        without(
            "squares",
            "fit/target.rs",
            "Some(_) => vec![Distance::Squares, Distance::KullbackLeibler]",
            "Some(_) => vec![Distance::KullbackLeibler]",
        ),
        without(
            "pair-labels",
            "answer/blend.rs",
            "all.iter().map(Variant::standard_error).collect()",
            "all.iter().map(|v| if v.labels.kind == super::surrogate::Kind::Pair { f64::INFINITY } else { v.standard_error() }).collect()",
        ),
        without(
            "linear-labels",
            "answer/blend.rs",
            "all.iter().map(Variant::standard_error).collect()",
            "all.iter().map(|v| if v.labels.kind == super::surrogate::Kind::Linear { f64::INFINITY } else { v.standard_error() }).collect()",
        ),
        without(
            "first-map-of-scores",
            "planning/planner.rs",
            "better(solved(FeatureMap::Scores), solved(softmax(&self.grouped)))",
            "solved(softmax(&self.grouped))",
        ),
        without(
            "first-map-of-softmax",
            "planning/planner.rs",
            "better(solved(FeatureMap::Scores), solved(softmax(&self.grouped)))",
            "solved(FeatureMap::Scores)",
        ),
        without(
            "choice-of-map",
            "planning/planner.rs",
            "better(second, Ok(first))?.settled()",
            "second.or(Ok(first))?.settled()",
        ),
        without(
            "start-from-the-first-pass",
            "features/fit/posteriors.rs",
            "if own.1 <= first.1 { own.0 } else { first.0 }",
            "{ let _ = first; own.0 }",
        ),
        without(
            "start-from-the-model",
            "features/fit/posteriors.rs",
            "if own.1 <= first.1 { own.0 } else { first.0 }",
            "{ let _ = own; first.0 }",
        ),
        without(
            "tensor-start",
            "fit/target.rs",
            "let Some(start) = power_method(&whitening.apply(family, sums), self.k, seed)? else {",
            "let Some(start) = power_method(&whitening.apply(family, sums), self.k, seed)?.filter(|_| false) else {",
        ),
        without(
            "posterior-start",
            "fit/target.rs",
            "Ok(match refine_both(&objective, [&start, &own]) {",
            "Ok(match refine_both(&objective, [&start, &start]) {",
        ),
        without(
            "shrinkage-while-views-are-missing",
            "answer/shrink.rs",
            "let caution = caution * complete(moments);",
            "let _ = complete(moments);",
        ),
        without(
            "exception-of-two-classes",
            "answer/shrink.rs",
            "        2 => 0.0,\n",
            "",
        ),
        setting("shrinkage", "CAUTION", "0.0", "1.0", "4.0"),
        setting("shrinkage", "CAUTION_OF_STATES", "8.0", "32.0"),
        setting("shrinkage", "ERROR_POWER", "0.0", "0.5"),
        setting("shrinkage", "METRICS_CAUTION", "0.0", "2.0"),
        setting("softmax", "TEMPERATURE", "0.3", "1.2"),
        setting("sieve", "CALIBRATION", "0.0", "0.5", "2.0"),
        setting("posteriors", "RIDGES", 0, 9, 36),
        setting("posteriors", "PENALTY", "5e-4", "2e-3"),
        setting("posteriors", "TRIAL_SCORES", 20_480),
        setting("posteriors", "TRIAL_ITERATIONS", 6),
        setting("posteriors", "ITERATIONS", 15, 60),
        setting("states", "RIDGES", 18, 30),
        setting("states", "PENALTY", "1.0", "4.0"),
        setting("states", "STARTS", 1),
        setting("states", "ATTEMPTS", 1),
        setting("states", "ITERATIONS", 100),
        setting("bins", "FINELY_CUT", 0),
        setting("surrogates", "SMALLEST_NOISE", "1e-6", "1e-2"),
        setting("refinement", "REFIT_STEPS", 1),
        setting("refinement", "SAME", "0.0"),
        setting("temperature", "RANGE", "[0.0, 0.0]"),
        setting("temperature", "MOST_ROWS", 1024),
        setting("triples", "DRAWS", "1 << 14", "1 << 16"),
        setting("triples", "PARTS", 8),
        setting("triples", "SCALINGS", 0),
        without(
            "fieller",
            "answer/interval.rs",
            "quantile / (1.0 - quantile / clarity)",
            "quantile",
        ),
    ]
    return [variant for rows in table for variant in rows]


def sources():
    """The copy that variants are made in, as the tree is now."""
    tree = WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "crates", "Cargo.toml", "Cargo.lock"],
        cwd=HERE, check=True, capture_output=True, text=True,
    ).stdout.split()
    for name in filter(lambda name: (HERE / name).exists(), names):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        # Made now: what an earlier run built of an edited file must not pass for what is built of this one.
        shutil.copy(HERE / name, tree / name)
    images = HERE / "data" / "mnist"
    if images.is_dir():
        (tree / "data").mkdir(exist_ok=True)
        (tree / "data" / "mnist").symlink_to(images)
    return tree


def build(tree, edits):
    """Builds with these edits, and takes them back."""
    kept = {path: (tree / path).read_text() for path, _, _ in edits}
    try:
        for path, old, new in edits:
            text = (tree / path).read_text()
            changed, count = (old.subn(new, text) if isinstance(old, re.Pattern) else (text.replace(old, new), text.count(old)))
            if count != 1:
                sys.exit(f"{path} has {count} places for an edit, where one is expected: {old}")
            (tree / path).write_text(changed)
        command = ["cargo", "build", "--quiet", "-p", "triview", "--example", "ablation", "--target-dir", str(WORK / "target")]
        environment = {**os.environ, "RUSTFLAGS": "-A warnings"}
        subprocess.run([*command, "--config", "profile.dev.debug=false"], cwd=tree, check=True, env=environment)
    finally:
        for path, text in kept.items():
            (tree / path).write_text(text)
    binary = WORK / "ablation"
    shutil.copy2(WORK / "target" / "debug" / "examples" / "ablation", binary)
    return binary


def measure(tree, name, edits, options):
    """The draws of a variant, {(kind, draw): {column: number}}, measured or as they were measured before."""
    kinds = ["subclasses"] if any(part in name for part in OF_STATES) else options.kinds
    digest = hashlib.sha256()
    for path in sorted(path for path in tree.rglob("*") if path.suffix in {".rs", ".toml", ".lock"}):
        digest.update(path.read_bytes())
    digest.update(repr((options.draws, options.first, options.rows, kinds, [(str(old), new) for _, old, new in edits])).encode())
    kept = WORK / "draws" / f"{re.sub('[^a-z0-9]+', '-', name)}-{digest.hexdigest()[:16]}.csv"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        tables = run(tree, build(tree, edits), kinds, options)
        kept.write_text("".join(table if at == 0 else table.split("\n", 1)[1] for at, table in enumerate(tables)))
    rows = csv.DictReader(io.StringIO(kept.read_text()))
    return {(row.pop("kind"), int(row.pop("draw"))): {column: float(value) for column, value in row.items()} for row in rows}


def run(tree, binary, kinds, options):
    """What the example prints of all draws, some at a time beside each other."""
    draws, first, jobs = options.draws, options.first, options.jobs
    cuts = [first + draws * at // jobs for at in range(jobs + 1)]
    calls = [[str(binary), str(b - a), str(a), str(options.rows), *kinds] for a, b in zip(cuts, cuts[1:], strict=False) if b > a]

    def call(words):
        return subprocess.run(words, cwd=tree, check=True, capture_output=True, text=True).stdout

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(call, calls))


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def root(values):
    return math.sqrt(mean(value * value for value in values))


def paired(base, other, of):
    """The mean over draws of how much larger a number is, in standard errors of that mean."""
    differences = [of(other[draw]) - of(base[draw]) for draw in base if math.isfinite(of(base[draw]) + of(other[draw]))]
    if len(differences) < 2:
        return 0.0
    middle = mean(differences)
    spread = math.sqrt(sum((d - middle) ** 2 for d in differences) / (len(differences) - 1) / len(differences))
    return 0.0 if middle == 0 else middle / spread if spread > 0 else math.inf


def by_kind(rows):
    kinds = {}
    for (kind, draw), row in rows.items():
        kinds.setdefault(kind, {})[draw] = row
    return kinds


CAP = 30.0


def capped(name):
    """Squared errors, but no draw may rule a mean: beyond thirty labelled standard errors all are alike wrong."""
    return lambda row: min(abs(row[name]), CAP) ** 2 if math.isfinite(row[name]) else CAP**2


def compare(base, other):
    """How a variant differs: what is printed of it, and whether it loses or gains anything beyond noise."""
    base, other = by_kind(base), by_kind(other)
    kinds = [kind for kind in other if kind not in DEPENDENT]
    worse, better = [], []
    for kind in kinds:
        for what, of in (
            ("risk", capped("risk")),
            ("error rate", capped("rate")),
            ("width", lambda row: math.log(row["width"]) if row["width"] > 0 else math.nan),
        ):
            z = paired(base[kind], other[kind], of)
            if abs(z) > SURE:
                (worse if z > 0 else better).append(f"{what} of {kind} ({z:+.1f})")
    return {
        "risk": ratio(base, other, kinds, capped("risk")) ** 0.5,
        "rate": ratio(base, other, kinds, capped("rate")) ** 0.5,
        "covered": share(other, kinds, "covered"),
        "rate_covered": share(other, kinds, "rate_covered"),
        "trusted": share(other, kinds, "trusted"),
        "width": math.exp(mean(mean(widths(base[kind], other[kind])) for kind in kinds)),
        "seconds": ratio(base, other, kinds, lambda row: row["seconds"]),
        "worse": worse,
        "better": better,
    }


def ratio(base, other, kinds, of):
    """The geometric mean over kinds of how many times as large a mean over draws is."""
    return math.exp(mean(math.log(mean(map(of, other[kind].values())) / mean(map(of, base[kind].values()))) for kind in kinds))


def share(rows, kinds, name):
    return mean(row[name] for kind in kinds for row in rows[kind].values())


def widths(base, other):
    """Logarithms of how many times as wide each draw's interval is, where both have ends."""
    for draw, row in base.items():
        if 0 < row["width"] < math.inf and 0 < other[draw]["width"] < math.inf:
            yield math.log(other[draw]["width"] / row["width"])


HEAD = (
    "| variant | RMSE of the risk | of the error rate | risk covered | error rate covered | width | trusted | time | larger | smaller |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def line(name, it):
    return (
        f"| `{name}` | {it['risk']:.3f} | {it['rate']:.3f} | {100 * it['covered']:.1f}% | {100 * it['rate_covered']:.1f}% | "
        f"{it['width']:.3f} | {100 * it['trusted']:.1f}% | {it['seconds']:.2f} | {', '.join(it['worse'])} | {', '.join(it['better'])} |"
    )


def page(commit, base, lines, options):
    """docs/settings.md."""
    kinds = by_kind(base)
    rows = [
        f"| {kind} | {root(min(abs(row['risk']), CAP) for row in draws.values()):.2f} | "
        f"{root(min(abs(row['rate']), CAP) for row in draws.values()):.2f} | {100 * mean(row['covered'] for row in draws.values()):.0f}% | "
        f"{100 * mean(row['rate_covered'] for row in draws.values()):.0f}% | {mean(row['seconds'] for row in draws.values()):.2f} |"
        for kind, draws in kinds.items()
    ]
    table = "\n".join(lines)
    text = f"""# What each setting is worth

Made by `make ablation` (`scripts/ablation.py --write`) at commit {commit}: {options.draws} draws of each kind of rows, from seed {options.first} on, the same for
all variants. Kinds are those of `crates/triview/examples/ablation.rs`, of {options.rows:,} rows each: presets of `triview simulate`, six classes of which 30% of the views are
missing, three classes of two subclasses, four classes with shares of .7, .2, .07 and .03, with scores rounded to whole numbers, and with a model twice as wrong, and
composites of MNIST at a = 0, 5 and 10.

As it is, RMSE in labelled standard errors (no draw counts for more than {CAP:.0f} of them), intervals of 95% that hold the population's value, and seconds of one processor:

| kind | RMSE of the risk | of the error rate | risk covered | error rate covered | seconds |
|---|---|---|---|---|---|
{chr(10).join(rows)}

Each line below is one edit: `no:` leaves something out, a number takes the place of the one in `crates/triview/src/settings.rs`. What can only change answers with more
latent states than classes is measured on those alone. RMSE, widths of the
risk's intervals and times are ratios to those of the build as it is, means over the kinds. The last columns name each kind whose squared error or logarithm of the width
is larger or smaller by more than {SURE:.0f} standard errors of the paired difference, with how many; of so many comparisons one in twenty is by chance. `hard` rows, a
fifth of them with weak signal in all views, are in no mean: their answers are not to be trusted. Times are of processors that other work may have shared. {len(lines) - 1} of the
{len(variants())} variants are here.

{HEAD}
{table}

What loses nothing here may be needed elsewhere. Without the first map of scores and the choice of the map, both, the digits of `triview demo`, which are smaller and further from those that
the model was trained on, had answers that are not to be trusted from a = 7 on (3.3 to 15 where the risk is 8.8 to 21). Without the first map of softmax and that choice, of 1,500 rows
of `ten` and of MNIST at a = 10 answers were 1.3 and 1.9 times as far off. A class that does not occur is named as such only where the map is chosen.
"""
    (HERE / "docs" / "settings.md").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="variants, with * for any; all unless said")
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--kinds", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="name the variants")
    parser.add_argument("--write", action="store_true", help="write docs/settings.md")
    options = parser.parse_args()
    chosen = [
        (name, edits)
        for name, edits in variants()
        if not options.names or any(fnmatch.fnmatch(name, own) for own in options.names)
    ]
    if options.list or not chosen:
        print("\n".join(name for name, _ in chosen or variants()))
        return
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, check=True, capture_output=True, text=True).stdout.strip()
    tree = sources()
    base = measure(tree, "as it is", [], options)
    lines = [line("as it is", compare(base, base))]
    print(f"{HEAD}\n{lines[0]}", flush=True)
    for name, edits in chosen:
        lines.append(line(name, compare(base, measure(tree, name, edits, options))))
        print(lines[-1], flush=True)
    if options.write:
        page(commit, base, lines, options)


if __name__ == "__main__":
    main()
