#!/usr/bin/env python3
"""Set triview's page beside Evidently's and NannyML's of the same data: size, requests, time to open, what is there without scripts.

    python3 -m venv target/venv/evidently && target/venv/evidently/bin/pip install evidently
    python3 -m venv target/venv/nannyml && target/venv/nannyml/bin/pip install nannyml
    target/venv/full/bin/python scripts/compare_pages.py --evidently target/venv/evidently/bin/python \
        --nannyml target/venv/nannyml/bin/python -o target/pages

(`make test` makes target/venv/full, with triview and playwright.) A model of six classes is measured with labels on 20,000 old rows; then
the scores of its views are distorted, each by noise of its own, in 20,000 new rows without labels. Evidently compares the new rows with the
old ones (its preset for drift: without labels it has nothing to say of performance), NannyML estimates the error rate by confidence
(CBPE, in chunks), triview the risk. Each page is then opened in Chromium, five times with scripts and five times without, the network
blocked; printed is a table with medians, and the words that stand in the first screen of 1280 by 800.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import triview as tv

ROOT = Path(__file__).parents[1]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
OPENED = 5
ROWS = 20_000

EVIDENTLY = """
import sys, pandas as pd
from importlib.metadata import version
from evidently import DataDefinition, Dataset, Report
from evidently.presets import DataDriftPreset
folder = sys.argv[1]
old, new = (pd.read_csv(f"{folder}/{name}.csv") for name in ("old", "new"))
numbers = [f"p{k}" for k in range(6)]
definition = DataDefinition(numerical_columns=numbers, categorical_columns=["predicted"])
keep = [*numbers, "predicted"]
sets = [Dataset.from_pandas(frame[keep], data_definition=definition) for frame in (new, old)]
Report([DataDriftPreset()]).run(*sets).save_html(f"{folder}/evidently.html")
print(version("evidently"))
"""

NANNYML = """
import sys, pandas as pd, nannyml as nml
from importlib.metadata import version
folder = sys.argv[1]
old, new = (pd.read_csv(f"{folder}/{name}.csv") for name in ("old", "new"))
estimator = nml.CBPE(
    y_pred_proba={str(k): f"p{k}" for k in range(6)}, y_pred="predicted", y_true="label", metrics=["accuracy"],
    problem_type="classification_multiclass", chunk_number=10)
for frame in (old, new):
    frame["predicted"], frame["label"] = frame["predicted"].astype(str), frame["label"].astype(str)
estimator.fit(old)
estimator.estimate(new.drop(columns="label")).plot().write_html(f"{folder}/nannyml.html")
print(version("nannyml"))
"""


def data(folder):
    """Old rows with labels, new rows whose views are distorted, and how often the model is truly wrong on both."""
    table = tv.simulate(preset="six", rows=2 * ROWS, seed=11).table.to_dict()
    scores = np.stack([np.stack([table[f"{view}:{k}"] for k in range(6)], axis=1) for view in "abc"], axis=1)
    labels = np.array([int(label) for label in table["label"]])
    noise = np.random.default_rng(5).normal(size=scores.shape)
    scores[ROWS:] += 1.5 * noise[ROWS:]
    total = scores.sum(axis=1)
    probabilities = np.exp(total - total.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    predicted = total.argmax(axis=1)
    for name, rows in (("old", slice(0, ROWS)), ("new", slice(ROWS, None))):
        header = ",".join([*(f"p{k}" for k in range(6)), "predicted", "label"])
        columns = np.column_stack([probabilities[rows], predicted[rows], labels[rows]])
        np.savetxt(folder / f"{name}.csv", columns, "%.9g", ",", header=header, comments="")
    wrong = predicted != labels
    return scores[ROWS:], wrong[:ROWS].mean(), wrong[ROWS:].mean()


def others(python, script, folder):
    """Make another's page in its own environment; its version, or why there is none."""
    if python is None:
        return None, "not asked for"
    done = subprocess.run([python, "-W", "ignore", "-c", script, folder], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    return done.stdout.strip().splitlines()[-1], None


def opened(browser, path, *, scripts):
    """Seconds until the page has drawn itself, requests beside the file, words on the first screen, and letters in all."""
    seconds, requests = [], set()
    for _ in range(OPENED):
        context = browser.new_context(
            java_script_enabled=scripts, offline=True, viewport={"width": 1280, "height": 800}
        )
        tab = context.new_page()
        tab.on("request", lambda request: requests.add(request.url.split("?")[0]))
        began = time.perf_counter()
        tab.goto(path.as_uri(), wait_until="load", timeout=120_000)
        # Two frames later what the page's scripts have drawn is on the screen.
        tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))" if scripts else "() => 0")
        tab.screenshot(timeout=120_000)
        seconds.append(time.perf_counter() - began)
        first = tab.evaluate(
            """() => {
                const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                const words = [];
                for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                    const around = node.parentElement;
                    if (!node.textContent.trim() || ["SCRIPT", "STYLE", "TITLE", "title", "desc"].includes(around.tagName)) continue;
                    const box = around.getBoundingClientRect();
                    if (box.width && box.height && box.top < 800 && box.bottom > 0) words.push(node.textContent.trim());
                }
                return words;
            }"""
        )
        letters = tab.evaluate("() => document.body.innerText.trim().length")
        if scripts:
            tab.screenshot(path=path.with_suffix(".png"), timeout=120_000)
        context.close()
    outside = sorted(url for url in requests if not url.startswith(("file:", "data:", "blob:")))
    return statistics.median(seconds), outside, first, letters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evidently", help="a Python that has Evidently")
    parser.add_argument("--nannyml", help="a Python that has NannyML")
    parser.add_argument("-o", "--output", type=Path, default=Path("target/pages"))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    folder = asked.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    scores, before, after = data(folder)
    answer = tv.estimate(scores, report=folder / "triview.html")
    versions = {"triview": (tv.__version__, None)}
    versions["evidently"] = others(asked.evidently, EVIDENTLY, folder)
    versions["nannyml"] = others(asked.nannyml, NANNYML, folder)
    chromium = subprocess.run([ROOT / "scripts/chromium.sh"], capture_output=True, text=True, check=True).stdout.split()[-1]
    found = {"wrong_before": before, "wrong_after": after, "triview_says": [answer.error_rate, *answer.error_rate_interval]}
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, (version, why) in versions.items():
            path = folder / f"{name}.html"
            if version is None:
                found[name] = {"absent": why}
                continue
            with_scripts, without = (opened(browser, path, scripts=scripts) for scripts in (True, False))
            found[name] = {
                "version": version, "bytes": path.stat().st_size, "requests": with_scripts[1], "seconds": with_scripts[0],
                "letters_without_scripts": without[3], "letters": with_scripts[3], "first_screen": with_scripts[2],
            }  # fmt: skip
        browser.close()
    if asked.json:
        print(json.dumps(found, indent=1))
        return
    print(f"The model is truly wrong on {before:.1%} of the old rows and on {after:.1%} of the new ones.")
    print(f"{'page':<18}{'bytes':>12}{'requests':>10}{'seconds':>9}{'letters':>9}{'without scripts':>17}")
    for name in versions:
        page = found[name]
        if "absent" in page:
            print(f"{name:<18}none: {page['absent']}")
            continue
        said = f"{name} {page['version']}"
        print(
            f"{said:<18}{page['bytes']:>12,}{len(page['requests']):>10}{page['seconds']:>9.2f}{page['letters']:>9,}"
            f"{page['letters_without_scripts']:>17,}"
        )
    for name in versions:
        if "first_screen" in found[name]:
            print(f"\nfirst screen of {name}: {' | '.join(found[name]['first_screen'])[:900]}")


if __name__ == "__main__":
    sys.exit(main())
