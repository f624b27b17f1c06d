#!/usr/bin/env python3
"""What the estimate loses without each of its settings, or at half and twice its value: docs/settings.md.

Every variant is an edit of the sources, made in a copy under target/ablation, built there, and run on the same draws as
the build without an edit (crates/triview/examples/ablation.rs), so that differences are paired.

    scripts/ablation.py --draws 24 --first 0 --write     all variants, and the page
    scripts/ablation.py --draws 24 no-pair blend-*       some of them, on standard output

Only the standard library is needed. scripts/mnist.sh obtains the images; without them their rows are left out.
"""

import argparse
import csv
import fnmatch
import io
import math
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
        setting("", "BLEND_POWER", 0, 4, 16, 1000),
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
        setting("shrinkage", "CAUTION_OF_STATES", "2.0", "8.0", "32.0"),
        setting("shrinkage", "ERROR_POWER", "0.0", "0.125", "0.5"),
        setting("shrinkage", "METRICS_CAUTION", "0.0", "2.0"),
        setting("softmax", "TEMPERATURE", "0.3", "1.2"),
        setting("sieve", "CALIBRATION", "0.0", "0.5", "2.0"),
        setting("posteriors", "RIDGES", 0, 9, 36),
        setting("posteriors", "PENALTY", "5e-4", "2e-3"),
        setting("posteriors", "TRIAL_SCORES", 4_096, 20_480),
        setting("posteriors", "TRIAL_ITERATIONS", 6, 24),
        setting("posteriors", "ITERATIONS", 15, 60),
        setting("states", "RIDGES", 18, 30),
        setting("states", "PENALTY", "1.0", "4.0"),
        setting("states", "STARTS", 1),
        setting("states", "ATTEMPTS", 1, 5),
        setting("states", "ITERATIONS", 100),
        setting("bins", "FINELY_CUT", 0, 8),
        setting("bins", "SMALLEST_CHANCE", "5e-4", "2e-3"),
        setting("surrogates", "SMALLEST_NOISE", "1e-6", "1e-2"),
        setting("refinement", "REFIT_STEPS", 1, 4),
        setting("refinement", "SAME", "0.0"),
        setting("power", "STARTS", 10),
        setting("temperature", "RANGE", "[0.0, 0.0]"),
        setting("temperature", "STEPS", 6),
        setting("temperature", "MOST_ROWS", 1024),
        setting("triples", "DRAWS", "1 << 14", "1 << 16"),
        setting("triples", "PARTS", 8, 32),
        setting("triples", "SCALINGS", 0),
        setting("triples", "MOST_SCALE", "1e12"),
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
        shutil.copy2(HERE / name, tree / name)
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
        subprocess.run([*command, "--config", "profile.dev.debug=false"], cwd=tree, check=True, env=_quiet())
    finally:
        for path, text in kept.items():
            (tree / path).write_text(text)
    binary = WORK / "ablation"
    shutil.copy2(WORK / "target" / "debug" / "examples" / "ablation", binary)
    return binary


def _quiet():
    import os

    return {**os.environ, "RUSTFLAGS": os.environ.get("RUSTFLAGS", "") + " -A warnings"}


def run(tree, binary, draws, first, kinds, jobs):
    """All draws, as {(kind, draw): {column: number}}."""
    cuts = [first + draws * at // jobs for at in range(jobs + 1)]
    calls = [[str(binary), str(b - a), str(a), *kinds] for a, b in zip(cuts, cuts[1:], strict=False) if b > a]

    def call(words):
        return subprocess.run(words, cwd=tree, check=True, capture_output=True, text=True).stdout

    with ThreadPoolExecutor(jobs) as pool:
        tables = list(pool.map(call, calls))
    rows = (row for table in tables for row in csv.DictReader(io.StringIO(table)))
    return {(row.pop("kind"), int(row.pop("draw"))): {name: float(value) for name, value in row.items()} for row in rows}


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
    kinds = [kind for kind in base if kind not in DEPENDENT]
    worse, better = [], []
    for kind in kinds:
        for what, of, bad in (
            ("risk", capped("risk"), 1),
            ("error rate", capped("rate"), 1),
            ("width", lambda row: math.log(row["width"]) if row["width"] > 0 else math.nan, 1),
        ):
            z = bad * paired(base[kind], other[kind], of)
            if abs(z) > SURE:
                (worse if z > 0 else better).append(f"{what} of {kind} ({z:+.1f})")
    total = lambda rows, of: mean(of(row) for kind in kinds for row in rows[kind].values())
    ratio = lambda name: math.exp(
        mean(0.5 * math.log(mean(map(capped(name), other[kind].values())) / mean(map(capped(name), base[kind].values()))) for kind in kinds)
    )
    return {
        "risk": ratio("risk"),
        "rate": ratio("rate"),
        "covered": total(other, lambda row: row["covered"]),
        "rate_covered": total(other, lambda row: row["rate_covered"]),
        "trusted": total(other, lambda row: row["trusted"]),
        "width": math.exp(mean(mean(math.log(other[kind][d]["width"] / base[kind][d]["width"]) for d in base[kind]
                              if all(0 < rows[kind][d]["width"] < math.inf for rows in (base, other))) for kind in kinds)),
        "seconds": total(other, lambda row: row["seconds"]) / total(base, lambda row: row["seconds"]),
        "worse": worse,
        "better": better,
    }


HEAD = ("| variant | RMSE of the risk | of the error rate | risk covered | error rate covered | width | trusted | time | worse by | better by |\n"
        "|---|---|---|---|---|---|---|---|---|---|")


def line(name, it):
    words = lambda found: ", ".join(found) if found else ""
    return (f"| {name} | {it['risk']:.3f} | {it['rate']:.3f} | {100 * it['covered']:.1f}% | {100 * it['rate_covered']:.1f}% | {it['width']:.3f} | "
            f"{100 * it['trusted']:.1f}% | {it['seconds']:.2f} | {words(it['worse'])} | {words(it['better'])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="variants, with * for any; all unless said")
    parser.add_argument("--draws", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--kinds", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="name the variants")
    options = parser.parse_args()
    chosen = [(name, edits) for name, edits in variants() if not options.names or any(fnmatch.fnmatch(name, own) for own in options.names)]
    if options.list or not chosen:
        print("\n".join(name for name, _ in chosen or variants()))
        return
    tree = sources()
    draw = lambda edits: run(tree, build(tree, edits), options.draws, options.first, options.kinds, options.jobs)
    base = draw([])
    print(HEAD)
    print(line("as it is", compare(base, base)), flush=True)
    for kind, rows in by_kind(base).items():
        print(f"<!-- {kind}: RMSE {root(min(abs(r['risk']), CAP) for r in rows.values()):.2f} -->")
    for name, edits in chosen:
        print(line(name, compare(base, draw(edits))), flush=True)


if __name__ == "__main__":
    main()
