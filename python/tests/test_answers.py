"""Answers: their properties, whether to trust them, and how they show themselves."""

import copy
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from conftest import ROWS, by_view

import triview as tv


@pytest.fixture(scope="module")
def untrusted(dependent):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        return tv.estimate(dependent)


# Properties


def test_properties_are_those_of_the_dict(answer):
    told = answer.to_dict()
    assert answer.risk == told["risk"]
    assert answer.standard_error == told["standard_error"]
    assert answer.error_rate == told["error_rate"]
    assert answer.classes == told["classes"] == ["0", "1", "2"]
    assert answer.views == told["views"] == ["a", "b", "c"]
    assert answer.rows == told["rows"] == ROWS
    assert answer.class_prior == dict(zip("012", told["class_prior"], strict=True))
    assert answer.alarms == told["diagnostics"]["alarms"] == []
    assert answer.remedies == []
    assert answer.p_value == told["diagnostics"]["independence"]["p_value"]
    assert answer.trusted is told["trusted"] is True
    assert answer.segments == {}
    assert answer["risk"] == answer.risk
    assert json.loads(json.dumps(told)) == told


def test_intervals(answer, table):
    low, high, level = answer.interval
    assert answer.interval == tv.Interval(low, high, 0.95)
    assert low <= answer.risk <= high
    assert (low, high) == (answer["interval"]["low"], answer["interval"]["high"])
    assert answer.error_rate_interval.low <= answer.error_rate <= answer.error_rate_interval.high
    narrow = tv.estimate(table, level=0.5)
    assert narrow.interval.level == 0.5
    assert narrow.interval.high - narrow.interval.low < high - low


def test_the_truth_is_within(simulation, answer):
    assert answer.interval.low < simulation.truth["risk"] < answer.interval.high


def test_what_is_given_cannot_be_changed_from_outside(answer):
    risk = answer.risk
    answer.to_dict()["risk"] = 5
    answer.to_dict()["class_prior"].clear()
    answer["class_prior"].clear()
    answer.classes.clear()
    assert answer.risk == risk
    assert len(answer.class_prior) == 3


def test_keys_that_are_not_there(answer, table):
    with pytest.raises(KeyError, match="no 'zog'; there are schema, risk"):
        answer["zog"]
    with pytest.raises(KeyError, match="no 'interval'; there are"):
        _ = tv.diagnose(table).interval


def test_what_is_not_known_of_moments(moments):
    answer = moments.solve()
    assert answer.error_rate is None
    assert answer.error_rate_interval is None
    assert answer["error_rate_absent"]


def test_segments(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answer = tv.estimate(table, by=np.array(["mon", "tue"])[np.arange(ROWS) % 2])
    assert list(answer.segments) == ["mon", "tue"]
    assert sum(segment["rows"] for segment in answer.segments.values()) == ROWS
    assert answer.segments["mon"] == answer["by"]["segments"][0]


def test_rows_to_label(table):
    answer = tv.estimate(table, label_budget=0.08, label_rows=True)
    rows = answer["label_rows"]
    assert 0 < len(rows) <= ROWS
    assert "label_rows" in answer.to_dict()


def test_notes(answer, scores):
    assert answer.notes == ["columns not used: label"]
    assert tv.estimate(scores).notes == []


def test_answers_are_copied_and_pickled(answer, crowd):
    for held in (answer, tv.votes(crowd)):
        for same in (copy.deepcopy(held), pickle.loads(pickle.dumps(held))):
            assert same.to_dict() == held.to_dict()
            assert str(same) == str(held)


# Trust


def test_an_untrusted_answer_warns_once_where_it_was_asked(dependent):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = tv.estimate(dependent)
    (warning,) = caught
    assert warning.category is tv.UntrustedWarning
    assert warning.filename == __file__
    assert not answer.trusted
    assert all(alarm in str(warning.message) for alarm in answer.alarms)


@pytest.mark.parametrize("ask", [tv.diagnose, tv.label, tv.compare, lambda data: summed(data).solve()])
def test_every_question_warns_where_it_was_asked(dependent, ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(dependent)
    assert [warning.category for warning in caught] == [tv.UntrustedWarning]
    assert caught[0].filename == __file__


def summed(data):
    return tv.plan(data).accumulator().update(data).finish()


def test_moments_given_to_estimate_warn_where_it_was_asked(dependent):
    parts = summed(dependent)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tv.estimate(parts)
    assert [(warning.category, warning.filename) for warning in caught] == [(tv.UntrustedWarning, __file__)]


def test_a_trusted_answer_does_not_warn(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tv.estimate(table)


def test_strict(dependent, table, untrusted):
    with pytest.raises(tv.UntrustedError, match="not to be trusted") as caught:
        tv.estimate(dependent, strict=True)
    assert isinstance(caught.value, tv.TriviewError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.answer.to_dict() == untrusted.to_dict()
    assert tv.estimate(table, strict=True).trusted


def test_alarms_and_remedies(untrusted):
    assert not untrusted.trusted
    assert untrusted.p_value < 0.05
    assert len(untrusted.alarms) == len(untrusted.remedies) > 0
    assert not any("--" in remedy for remedy in untrusted.remedies)
    assert "not to be trusted" in repr(untrusted)


# Frames


def test_frames_of_pandas(answer):
    pytest.importorskip("pandas")
    frame = answer.to_frame()
    assert type(frame).__module__.startswith("pandas")
    assert list(frame.columns) == ["quantity", "value", "standard_error", "low", "high"]
    risk = frame.set_index("quantity").loc["risk"]
    assert (risk["value"], risk["standard_error"]) == (answer.risk, answer.standard_error)
    assert (risk["low"], risk["high"]) == answer.interval[:2]


def test_frames_of_polars(answer, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pandas" else object())
    frame = answer.to_frame()
    assert type(frame).__module__.startswith("polars")
    assert frame.filter(quantity="risk")["value"].to_list() == [answer.risk]


def test_frames_need_a_package(answer, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(tv.TriviewError, match="pandas or polars, which is not installed"):
        answer.to_frame()
    with pytest.raises(tv.TriviewError, match="matplotlib"):
        answer.plot()


def test_frames_of_every_answer(table, scores, crowd, model):
    pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        segments = tv.estimate(table, by="label", metrics=True)
        adaptation = tv.adapt(by_view(scores), model=model)
    assert set(segments.to_frame()["segment"].dropna()) == {"0", "1", "2"}
    assert list(adaptation.to_frame()["model"]) == ["seed", "adapted"]
    comparison = tv.compare(table, label="label").to_frame()
    assert list(comparison["method"][:2]) == ["truth", "triview"]
    assert len(tv.diagnose(table).to_frame()) == len(tv.diagnose(table).dependences)
    votes = tv.votes(crowd)
    assert len(votes.labels().to_frame()) == votes.rows
    assert len(votes.annotators().to_frame()) == len(votes.views)


def test_a_model_that_is_not_judged(scores, model):
    pytest.importorskip("pandas")
    adaptation = tv.adapt(by_view(scores), model=model, no_judgement=True, radius=1.0)
    assert adaptation.verdict == "not judged"
    assert len(adaptation.to_frame()) == 2
    assert adaptation.classes == ["0", "1", "2"]
    assert adaptation.views == ["a", "b", "c"]
    assert "not judged" in repr(adaptation)


def test_frames_are_read_by_others(table):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    assert polars.DataFrame(table).shape == (ROWS, 10)
    assert table.to_polars().columns == table.columns
    assert pyarrow.table(table).num_rows == ROWS
    assert list(table.to_pandas()["a:0"]) == list(table["a:0"])


def test_labels(table, scores):
    labels = tv.label(table)
    assert len(labels) == ROWS
    assert labels.trusted
    posterior = np.stack([labels[f"posterior:{name}"] for name in "012"], axis=1)
    assert np.allclose(posterior.sum(axis=1), 1)
    assert labels["label"] == table["label"]
    assert (posterior.argmax(axis=1) == np.array(table["label"]).astype(int)).mean() > 0.85


def test_votes(crowd):
    votes = tv.votes(crowd)
    assert votes.bound == "at least"
    assert 0 < votes.floor < 1
    assert set(votes.labels()["item"]) == set(crowd["item"])
    assert set(votes.review()["item"]) <= set(crowd["item"])
    assert set(votes.annotators()["annotator"]) == set(votes.views)


def test_sequences(chains, tmp_path):
    path = tmp_path / "transition.csv"
    path.write_text(chains.transition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answer = tv.sequences(chains.table, transition=path, labels=True)
        unlabelled = tv.sequences(chains.table, transition=path)
    assert answer.classes == ["0", "1", "2"]
    assert math.isclose(sum(answer.class_prior.values()), 1)
    assert answer.rows == len(chains.table) == len(answer.labels())
    with pytest.raises(tv.TriviewError, match="no labels"):
        unlabelled.labels()


def test_sequences_with_some_labels(chains, tmp_path):
    path = tmp_path / "transition.csv"
    path.write_text(chains.transition)
    columns = dict(chains.table.to_dict())
    numbered = zip(columns["sequence"], columns["label"], strict=True)
    columns["tag"] = [str(state) if int(at) < 60 else "" for at, state in numbered]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answer = tv.sequences(columns, transition=path, label="tag")
    labels = answer["labels"]
    assert labels["count"] == 60
    assert 0 < labels["token_error"]["viterbi"]["interval"]["high"] < 1
    with pytest.raises(tv.TriviewError, match="labelled only in part"):
        tv.sequences(columns | {"tag": ["", *columns["tag"][1:]]}, transition=path, label="tag")


# How answers show themselves


def test_text(answer):
    assert str(answer) == answer.text
    assert str(answer).startswith("risk ")
    assert repr(answer).startswith("<Answer: risk 0.")


def test_html(answer, untrusted):
    shown = answer._repr_html_()
    assert shown.count("<svg") == shown.count("</svg>") == 1
    assert "Not to be trusted" not in shown
    doubtful = untrusted._repr_html_()
    assert "Not to be trusted" in doubtful
    assert doubtful.count("<li>") == len(untrusted.alarms)


def test_html_escapes_names(scores):
    names = ["<script>alert(1)</script>", "a&b", '"quoted"']
    views = dict(zip(["<b>", "<script>", "x"], by_view(scores).values(), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answers = [
            tv.estimate(views, classes=names),
            tv.diagnose(views, classes=names),
            tv.compare(views, classes=names),
            tv.estimate(views | {"<script>": views["<b>"] + np.sin(views["x"])}, classes=names),
        ]
    for answer in answers:
        shown = answer._repr_html_()
        assert "<script" not in shown
        assert "<b>" not in shown


def test_everything_shows_itself(table, scores, crowd, chains, model, tmp_path):
    path = tmp_path / "transition.csv"
    path.write_text(chains.transition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answers = [
            tv.estimate(table, by="label"), tv.estimate(table, label="label"), tv.diagnose(table), tv.compare(table),
            tv.votes(crowd), tv.sequences(chains.table, transition=path), tv.adapt(by_view(scores), model=model),
            tv.adapt(by_view(scores), model=model, no_judgement=True, radius=1.0),
        ]  # fmt: skip
    for answer in answers:
        assert str(answer)
        assert repr(answer).startswith(f"<{type(answer).__name__}")
        assert answer._repr_html_().startswith("<div class=")
    for held in (tv.label(table), table, model, tv.plan(scores), tv.simulate(rows=5)):
        assert repr(held)


# Pictures


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_plot(answer, untrusted, pyplot, tmp_path):
    axes = answer.plot()
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[-1] == "risk"
    assert axes.get_xlabel() == "95% interval"
    axes.figure.savefig(tmp_path / "answer.png")
    own = pyplot.subplots()[1]
    assert untrusted.plot(ax=own) is own
    assert own.get_title() == "not to be trusted"


def test_plot_of_segments(table, pyplot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answer = tv.estimate(table, by=np.array(["mon", "tue"])[np.arange(ROWS) % 2])
    axes = answer.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["tue", "mon"]


def test_nothing_to_plot(table, pyplot):
    with pytest.raises(tv.TriviewError, match="nothing to draw"):
        tv.diagnose(table).plot()
    assert not pyplot.get_fignums()


def test_two_views_and_a_witness():
    rng = np.random.default_rng(4)
    hospital = rng.integers(5, size=ROWS_OF_WITNESS)
    ill = rng.random(ROWS_OF_WITNESS) < 0.1 + 0.2 * hospital
    odds = [apart * (rng.normal(size=ROWS_OF_WITNESS) + apart * (ill - 0.5)) for apart in (2.4, 1.9)]
    scores = {
        name: np.stack([np.zeros(ROWS_OF_WITNESS), x], axis=1) for name, x in zip("ab", odds, strict=True)
    }
    answer = tv.estimate(scores, witness={"hospital": hospital}, model="a", metrics=True)
    wrong = np.mean((odds[0] > 0) != ill)
    low, high = answer["error_rate_interval"]["low"], answer["error_rate_interval"]["high"]
    assert low - 0.01 < wrong < high + 0.01
    assert answer["witnesses"][0]["values"] == sorted(
        "01234", key=lambda value: -np.sum(hospital == int(value))
    )
    assert set(answer["metrics"]) >= {"sensitivity", "specificity"}
    with pytest.raises(tv.TriviewError, match="without a name"):
        tv.estimate(scores, witness=hospital)
    with pytest.raises(tv.TriviewError, match="one value a row|values for the"):
        tv.estimate(scores, witness={"hospital": hospital[:10]})
    with pytest.raises(tv.TriviewError, match="in every row"):
        tv.estimate(scores, witness={"flat": np.zeros(ROWS_OF_WITNESS, dtype=int)})
    with pytest.raises(tv.TriviewError, match="three are needed"):
        tv.estimate(scores)


def test_another_models_output_rides_along(scores, labels):
    pa = pytest.importorskip("pyarrow")
    exponents = np.exp(scores - scores.max(axis=2, keepdims=True))
    average = (exponents / exponents.sum(axis=2, keepdims=True)).mean(axis=1)
    columns = {
        f"{view}:{name}": scores[:, at, name]
        for at, view in enumerate("abc")
        for name in range(scores.shape[2])
    }
    columns |= {f"p:{name}": average[:, name] for name in range(scores.shape[2])}
    answer = tv.estimate(pa.table(columns), prediction="p:*")
    assert answer.views == ["a", "b", "c"]
    own = answer["prediction"]["error_rate"]
    wrong = np.mean(average.argmax(axis=1) != np.array(labels).astype(int))
    assert abs(own["value"] - wrong) < 4 * own["standard_error"]
    assert set(answer["prediction"]) >= {"log_loss", "brier", "calibration_error", "auc", "disagree"}
    with pytest.raises(tv.TriviewError, match="named like the prediction"):
        tv.estimate(pa.table(columns), prediction="q:*")
    columns["p:1"] = columns["p:1"] + 1
    with pytest.raises(tv.TriviewError, match="no probabilities"):
        tv.estimate(pa.table(columns), prediction="p:*")


ROWS_OF_WITNESS = 8_000
