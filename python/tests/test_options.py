"""Every option of the command line is a parameter of the same name."""

import inspect

import pytest

import triview as tv
from triview import _core

#: What is not a parameter: how the command line prints, and what comes back as a value instead of a file.
PRINTING = {"inputs", "json", "help"}
VERBS = {
    "estimate": (tv.estimate, {"votes", "item", "annotator", "vote", "gold", "cuts", "smoothing"}),
    "diagnose": (tv.diagnose, set()),
    "compare": (tv.compare, set()),
    "label": (
        tv.label,
        {"votes", "item", "annotator", "vote", "gold", "cuts", "smoothing", "label", "annotators", "review"},
    ),
    "hmm": (tv.sequences, {"output"}),
    "train": (tv.train, set()),
    "score": (tv.score, set()),
    "adapt": (tv.adapt, set()),
    "simulate": (tv.simulate, {"output", "truth", "transition"}),
}
#: `votes` asks what `estimate --votes` and `label --votes` ask.
VOTES = {
    "label",
    "gold",
    "item",
    "annotator",
    "vote",
    "cuts",
    "smoothing",
    "label_budget",
    "keep",
    "views",
    "classes",
    "level",
}

#: Of a store: what has no parameter but a method or an argument of its own, and what never returns.
STORE = {"add", "labels", "merge", "export", "keep_last", "follow"}


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_a_parameter(verb):
    function, elsewhere = VERBS[verb]
    options = set(_core.options(verb))
    assert options, verb
    missing = options - PRINTING - elsewhere - set(inspect.signature(function).parameters)
    assert not missing, f"{verb}: {sorted(missing)}"


@pytest.mark.parametrize("function", [function for function, _ in VERBS.values()] + [tv.votes])
def test_every_function_has_a_number_of_threads(function):
    assert "threads" in inspect.signature(function).parameters


def test_votes_have_their_options():
    parameters = set(inspect.signature(tv.votes).parameters)
    assert parameters >= VOTES
    assert set(_core.options("estimate")) | set(_core.options("label")) >= VOTES


def test_every_option_of_a_store_is_a_parameter_of_some_method():
    methods = [tv.Monitor, tv.Monitor.add, tv.Monitor.add_labels, tv.Monitor.show]
    parameters = {name for method in methods for name in inspect.signature(method).parameters}
    options = set(_core.options("monitor"))
    assert options > STORE
    assert not options - PRINTING - STORE - parameters


def test_there_are_no_options_of_what_is_no_verb():
    assert _core.options("estimte") == []
