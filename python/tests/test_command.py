"""Python's answers are the command line's, bit for bit."""

import json
import warnings

import numpy as np
import pytest
from conftest import scores_of, triview, write_csv

import triview as tv


def test_help():
    shown = triview("--help").stdout
    assert "Usage" in shown
    for verb in (
        "estimate",
        "diagnose",
        "compare",
        "label",
        "moments",
        "train",
        "score",
        "adapt",
        "simulate",
    ):
        assert verb in shown


def test_version():
    assert triview("--version").stdout.split() == ["triview", tv.__version__]


def test_status(tmp_path):
    """Answered, answered but not to be trusted, not answered."""
    for name, shared in (("good", 0.0), ("bad", 0.5)):
        write_csv(
            tmp_path / f"{name}.csv", tv.simulate(preset="three", rows=3000, shared=shared).table.to_dict()
        )
    assert triview("estimate", "good.csv", cwd=tmp_path).stdout.startswith("risk")
    assert "not" in triview("estimate", "bad.csv", cwd=tmp_path, status=(1,)).stdout
    assert "zog.csv" in triview("estimate", "zog.csv", cwd=tmp_path, status=(2,)).stderr


def test_text_is_the_command_lines(files, answer):
    assert triview("estimate", files / "all.csv").stdout.rstrip() == str(answer).rstrip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of every kind, as files that keep each bit."""
    path = tmp_path_factory.mktemp("tables")

    def put(name, table, **columns):
        write_csv(path / f"{name}.csv", table.to_dict() | columns)

    three = tv.simulate(preset="three", rows=3000).table
    some = [label if at % 6 == 0 else None for at, label in enumerate(three["label"])]
    put("three", three, some=some, day=["mon", "tue", "wed"] * 1000, person=list(np.arange(3000) // 2))
    put("two", tv.simulate(preset="two", rows=2000).table)
    put("six", tv.simulate(preset="six", rows=4000).table)
    put("dependent", tv.simulate(preset="three", rows=3000, shared=0.5).table)
    put("missing", tv.simulate(preset="three", rows=4000, missing=0.1).table)
    put("five", tv.simulate(preset="three", rows=3000, views=5).table)
    put("subclasses", tv.simulate(preset="subclasses", rows=6000).table)
    put("old", tv.simulate(preset="three", rows=2000, seed=5).table)
    scores = scores_of(three)
    chances = np.exp(scores - scores.max(axis=2, keepdims=True))
    chances /= chances.sum(axis=2, keepdims=True)
    write_csv(path / "chances.csv", {f"{'abc'[v]}:{k}": chances[:, v, k] for v in range(3) for k in range(3)})
    np.save(path / "scores.npy", scores.astype(np.float32))
    crowd = tv.simulate(crowd=True, rows=600, annotators=15, seed=1).table
    put("votes", crowd)
    truth = dict(zip(crowd["item"], crowd["truth"], strict=True))
    gold = {"item": list(truth)[:80], "label": list(truth.values())[:80]}
    write_csv(path / "gold.csv", gold)
    chains = tv.simulate(hmm=True, sequences=600, classes=3, longest=30)
    put("chains", chains.table)
    (path / "transition.csv").write_text(chains.transition)
    return path


#: What is asked: the verb, the file, what is typed, and the same in Python.
QUESTIONS = {
    "three": ("estimate", "three.csv", "", {}),
    "two": ("estimate", "two.csv", "", {}),
    "six": ("estimate", "six.csv", "", {}),
    "array": ("estimate", "scores.npy", "", {}),
    "dependent": ("estimate", "dependent.csv", "", {}),
    "missing": ("estimate", "missing.csv", "", {}),
    "hinge": ("estimate", "three.csv", "--loss hinge", {"loss": "hinge"}),
    "exponential": ("estimate", "three.csv", "--loss exponential", {"loss": "exponential"}),
    "zero-one": ("estimate", "three.csv", "--loss zero-one", {"loss": "zero-one"}),
    "brier": ("estimate", "three.csv", "--loss brier", {"loss": "brier"}),
    "metrics": ("estimate", "six.csv", "--metrics", {"metrics": True}),
    "by": ("estimate", "three.csv", "--by day", {"by": "day"}),
    "label": ("estimate", "three.csv", "--label some", {"label": "some"}),
    "label budget": (
        "estimate", "three.csv", "--label some --label-budget 0.08", {"label": "some", "label_budget": 0.08}
    ),
    "cluster": ("estimate", "three.csv", "--cluster person", {"cluster": "person"}),
    "probability": ("estimate", "chances.csv", "--input probability", {"input": "probability"}),
    "amplify": ("estimate", "three.csv", "--amplify 5", {"amplify": 5}),
    "latent": ("estimate", "subclasses.csv", "--latent 4", {"latent": 4}),
    "five views": ("estimate", "five.csv", "", {}),
    "group": ("estimate", "five.csv", "--group a+b,c+d,e", {"group": [["a", "b"], ["c", "d"], ["e"]]}),
    "views": ("estimate", "five.csv", "--views a,c,e", {"views": ["a", "c", "e"]}),
    "feature map": ("estimate", "three.csv", "--feature-map softmax", {"feature_map": "softmax"}),
    "level and seed": ("estimate", "three.csv", "--level 0.8 --seed 7", {"level": 0.8, "seed": 7}),
    "one thread": ("estimate", "three.csv", "--threads 1", {"threads": 1}),
    "votes": ("estimate", "votes.csv", "--votes", {}),
    "votes with gold": ("estimate", "votes.csv", "--votes --gold gold.csv", {"gold": "gold.csv"}),
    "diagnose": ("diagnose", "three.csv", "", {}),
    "diagnose dependent": ("diagnose", "dependent.csv", "", {}),
    "compare": ("compare", "three.csv", "--label label", {"label": "label"}),
    "compare with source": (
        "compare", "three.csv", "--source old.csv --source-label label", {"source": "old.csv", "source_label": "label"}
    ),
    "hmm": ("hmm", "chains.csv", "--transition transition.csv", {"transition": "transition.csv"}),
}  # fmt: skip

ASK = {"estimate": tv.estimate, "diagnose": tv.diagnose, "compare": tv.compare, "hmm": tv.sequences}


def stripped(value):
    """Without what names the way that was asked: the words of remedies, and where the rows were."""
    if isinstance(value, dict):
        return {key: stripped(inner) for key, inner in value.items() if key not in ("remedy", "inputs")}
    if isinstance(value, list):
        return [stripped(inner) for inner in value]
    return value


def differences(ours, theirs, path=""):
    """Where two answers differ, in values or in kinds; the same bits are the same text."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in ours.keys() | theirs.keys():
            if key not in ours or key not in theirs:
                yield f"{path}.{key} is on one side only"
            else:
                yield from differences(ours[key], theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(our, their, f"{path}[{at}]")
    elif repr(ours) != repr(theirs):
        yield f"{path}: {ours!r} here and {theirs!r} there"


@pytest.mark.parametrize("question", QUESTIONS)
def test_same_bits(folder, question, monkeypatch):
    verb, name, typed, options = QUESTIONS[question]
    monkeypatch.chdir(folder)
    told = triview(verb, name, *typed.split(), "--json", cwd=folder, status=(0, 1))
    ask = tv.votes if "--votes" in typed else ASK[verb]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answer = ask(name, **options)
    assert list(differences(stripped(answer.to_dict()), stripped(json.loads(told.stdout)))) == []
    assert answer.trusted is (told.returncode == 0)


def test_differences_are_seen():
    """What the test above rests on."""
    one = {"a": [1.0, {"b": 0.1 + 0.2}], "remedy": "x"}
    assert list(differences(one, {"a": [1.0, {"b": 0.3}], "remedy": "x"})) != []
    assert list(differences(one, {"a": [1, {"b": 0.1 + 0.2}], "remedy": "x"})) != []
    assert list(differences(one, {"a": [1.0], "remedy": "x"})) != []
    assert list(differences(stripped(one), stripped(one | {"remedy": "y"}))) == []


def test_rows_in_memory_have_the_bits_of_the_file(folder):
    """Not only what is read by the same reader."""
    told = json.loads(triview("estimate", "six.csv", "--json", cwd=folder).stdout)
    held = tv.simulate(preset="six", rows=4000).table
    assert list(differences(stripped(tv.estimate(held).to_dict()), stripped(told))) == []
    told = json.loads(triview("estimate", "scores.npy", "--json", cwd=folder).stdout)
    array = np.load(folder / "scores.npy")
    assert list(differences(stripped(tv.estimate(array).to_dict()), stripped(told))) == []
