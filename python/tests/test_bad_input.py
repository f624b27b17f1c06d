"""What cannot be answered is refused in Python's words: which table, row, view or option is wrong."""

import pickle
import re

import numpy as np
import pytest
from conftest import ROWS, VIEWS, by_view, write_csv

import triview as tv

pytestmark = pytest.mark.filterwarnings("ignore::triview.UntrustedWarning")


def refused(call, *words, kind=tv.TriviewError):
    """The call is refused with these words, and none of the command line's."""
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert type(caught.value) in (tv.TriviewError, TypeError), type(caught.value)
    assert not re.search(r"--\w|panicked|Usage|internal error|triview estimate", text), text
    for word in words:
        assert word in text, text


# Arrays


@pytest.mark.parametrize("axes", [0, 1, 2, 4])
def test_axes(axes):
    refused(lambda: tv.estimate(np.zeros((5,) * axes)), f"{axes} axes", "(rows, views, classes)")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((0, 3, 3), "no rows (its first axis)"),
        ((9, 2, 3), "2 views (its second axis)"),
        ((9, 0, 3), "0 views (its second axis)"),
        ((9, 3, 1), "1 classes (its third axis)"),
        ((9, 3, 0), "0 classes (its third axis)"),
        ((0, 3, 2**32), "no rows"),
        ((0, 2**40, 3), "no rows"),
        ((9, 3, 3), "9 row(s)"),
    ],
)
def test_lengths_of_axes(shape, words):
    refused(lambda: tv.estimate(np.zeros(shape, dtype="f4")), words)


@pytest.mark.parametrize("kind", [object, complex, str, "S", "M8[s]", "m8[s]", "V8"])
def test_arrays_that_hold_no_numbers(scores, kind):
    refused(lambda: tv.estimate(scores[:9].astype(kind)), "not numbers", "float64")
    refused(
        lambda: tv.estimate({view: array.astype(kind) for view, array in by_view(scores[:9]).items()}),
        "view `a`",
    )
    refused(lambda: tv.train({"a": scores[:9, 0].astype(kind)}, label=["0"] * 9), "view `a`")


def test_structured_arrays():
    refused(lambda: tv.estimate(np.zeros(9, dtype=[("a:0", "f8"), ("a:1", "f8")])), "not numbers")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["f4", "f8", "f2"])
def test_numbers_that_are_not_finite(scores, bad, kind):
    broken = scores.astype(kind)
    broken[41, 1, 2] = bad
    refused(lambda: tv.estimate(broken), "row 42", "`2[2]`", "finite")
    refused(
        lambda: tv.estimate({"image": broken[:, 0], "text": broken[:, 1], "sound": broken[:, 2]}),
        "row 42",
        "`text[2]`",
    )


def test_masked_arrays(scores):
    masked = np.ma.masked_array(scores, mask=scores > 3)
    refused(lambda: tv.estimate(masked), "masked")
    refused(lambda: tv.estimate(by_view(masked)), "view `a` is masked")
    refused(lambda: tv.train(by_view(masked), label=["0"] * ROWS), "masked")


def test_shapes_that_no_memory_holds():
    with pytest.raises((MemoryError, tv.TriviewError)):
        tv.estimate(np.broadcast_to(np.zeros((1, 3, 3), dtype="f4"), (10**13, 3, 3)))
    with pytest.raises((MemoryError, tv.TriviewError)):
        tv.estimate(np.broadcast_to(np.zeros((10, 3, 1), dtype="f4"), (10, 3, 2**40)))


def test_scores_without_a_difference():
    """No panic: an answer that is not to be trusted, or a refusal."""
    for array in (np.zeros((500, 3, 3)), np.ones((500, 3, 3)) * 1e300, np.full((500, 3, 3), 1e-320)):
        try:
            assert not tv.estimate(array).trusted
        except tv.TriviewError as error:
            assert "internal" not in str(error)


# One array a view


def test_views(scores):
    views = by_view(scores)
    refused(lambda: tv.estimate({}), "0 view(s)")
    refused(lambda: tv.estimate({"a": views["a"], "b": views["b"]}), "2 view(s) are given (a, b)")
    refused(lambda: tv.estimate(views | {"b": views["b"][:7]}), "view `b` has 7 rows and view `a` 3000")
    refused(lambda: tv.estimate(views | {"b": views["b"][:, :2]}), "view `b` has 2 classes and view `a` 3")
    refused(lambda: tv.estimate(views | {"b": scores}), "view `b` has 3 axes")
    refused(lambda: tv.estimate(views | {"b": [[1, 2], [3]]}), "view `b` is no array")
    refused(
        lambda: tv.estimate({view: array[:, :1] for view, array in views.items()}),
        "1 classes (its second axis)",
    )
    refused(lambda: tv.estimate({view: array[:, :0] for view, array in views.items()}), "0 classes")
    refused(lambda: tv.estimate({view: array[:0] for view, array in views.items()}), "no rows")
    refused(
        lambda: tv.estimate({1: views["a"], "1": views["b"], 2: views["c"], 3: views["c"]}),
        "two views are called `1`",
    )


def test_probabilities(scores):
    refused(lambda: tv.estimate(by_view(scores), input="probability"), "not a probability", "row 1")
    refused(
        lambda: tv.estimate(dict.fromkeys(VIEWS, scores[:, 0, 0]), input="probability"),
        "not a probability",
    )


def test_sparse_scores():
    sparse = pytest.importorskip("scipy.sparse")
    refused(lambda: tv.estimate(sparse.csr_array(np.eye(9))))
    refused(lambda: tv.estimate({view: sparse.csr_array(np.eye(9)) for view in VIEWS}), "view `a`")


# What is no table


class Odd:
    """Promises a stream, and breaks the promise."""

    def __init__(self, given):
        self.given = given

    def __arrow_c_stream__(self, requested_schema=None):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


@pytest.mark.parametrize(
    "thing",
    [5, None, 2.5, b"scores.csv", bytearray(9), object(), int, [1], {1, 2}, [[]], [[[1.0]]], range(3)],
)
def test_things_that_are_no_table(thing):
    for ask in (tv.estimate, tv.diagnose, tv.label, tv.plan, tv.votes):
        refused(lambda ask=ask: ask(thing))


@pytest.mark.parametrize("given", [None, 5, RuntimeError("no stream"), ImportError("no pyarrow")])
def test_streams_that_are_none(given):
    refused(lambda: tv.estimate(Odd(given)), "Odd is no table")


@pytest.mark.parametrize("path", ["zog.csv", "", "a\0b.csv", "/", "\udcff.csv", "zog.parquet"])
def test_files_that_are_not_there(path):
    refused(lambda: tv.estimate(path))
    refused(lambda: tv.votes(path))
    refused(lambda: tv.Moments.load(path))


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "npy"])
def test_files_that_are_something_else(tmp_path, ending):
    path = tmp_path / f"scores.{ending}"
    for content in (
        b"",
        b"\x00" * 99,
        b"PAR1PAR1",
        b"\x93NUMPY\x01\x00\xff\xff",
        b"ARROW1\x00\x00ARROW1",
        b"a:0,a:1\n1\n",
    ):
        path.write_bytes(content)
        refused(lambda: tv.estimate(path), "scores.")


def test_iterators(scores):
    read = iter([scores])
    tv.estimate(read)
    refused(lambda: tv.estimate(read), "an iterator that was read before has nothing left")
    refused(lambda: tv.estimate([]), "no tables")

    def refill():
        array = np.empty((1000, 3, 3))
        for at in range(0, ROWS, 1000):
            array[:] = scores[at : at + 1000]
            yield array

    refused(lambda: tv.estimate(refill()), "the same array twice")

    def broken():
        yield scores
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tv.estimate(broken())


def test_parts_that_differ(scores):
    refused(lambda: tv.estimate([scores, scores[:, :, :2]]))
    refused(lambda: tv.estimate([by_view(scores), dict.fromkeys("xyz", scores[:, 0])]), "view")


# Frames


def test_columns_that_are_missing(frame):
    refused(lambda: tv.estimate(frame.drop(columns="b:1")), "no column `b:1`")
    refused(
        lambda: tv.estimate(frame.rename(columns={"b:1": "b:l"})), "no column `b:1`", "did you mean `b:l`"
    )
    refused(lambda: tv.estimate(frame[["label"]]), "view:class")
    refused(
        lambda: tv.estimate(frame[[name for name in frame if name[0] in "ab"]]), "2 view(s)", "three or more"
    )
    refused(lambda: tv.estimate(frame, label="lable"), "did you mean `label`")
    refused(lambda: tv.estimate(frame, by="lable"), "did you mean `label`")
    refused(lambda: tv.estimate(frame, cluster="lable"), "did you mean `label`")
    refused(lambda: tv.estimate(frame, views=["a", "b", "x"]), "no view `x`")
    refused(lambda: tv.label(frame, keep=["lable"]), "lable")


@pytest.mark.parametrize("without", [False, True])
def test_empty_frames(frame, without, request):
    pandas = pytest.importorskip("pandas")
    if without:
        request.getfixturevalue("no_pyarrow")
    refused(lambda: tv.estimate(pandas.DataFrame()), "no rows")
    refused(lambda: tv.estimate(frame[:0]), "no rows")
    refused(lambda: tv.estimate(frame[[]]))


def test_empty_tables():
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    refused(lambda: tv.estimate(pyarrow.table({})), "no rows")
    refused(
        lambda: tv.estimate(pyarrow.table({"a:0": pyarrow.array([], pyarrow.float64())}).to_reader()),
        "no rows",
    )
    refused(lambda: tv.estimate(polars.DataFrame()), "no rows")


def test_frames_that_are_none(table, frame):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    refused(lambda: tv.estimate(frame["a:0"]), "Series is no table")
    refused(lambda: tv.estimate(polars.DataFrame(table)["a:0"]), "Series is no table")
    refused(lambda: tv.estimate(polars.DataFrame(table).lazy()), "LazyFrame is no table")
    refused(lambda: tv.estimate(pyarrow.table(table)["a:0"]), "ChunkedArray is no table")


@pytest.mark.parametrize(
    "kind", ["str", "category", "complex", "datetime64[ns]", "timedelta64[ns]", "bool", "boolean", "string"]
)
@pytest.mark.parametrize("without", [False, True])
def test_columns_that_hold_no_numbers(frame, kind, without, request):
    if without:
        request.getfixturevalue("no_pyarrow")
    scores = frame.drop(columns="label")
    scores = scores.round() > 0 if "bool" in kind else scores * 1e9 if "ns" in kind else scores
    refused(lambda: tv.estimate(scores.astype(kind)), "a:0")


def test_decimals(frame):
    decimal = pytest.importorskip("decimal")
    pytest.importorskip("pyarrow")
    refused(
        lambda: tv.estimate(frame.drop(columns="label").map(lambda number: decimal.Decimal(repr(number)))),
        "a:0",
    )


@pytest.mark.parametrize("without", [False, True])
def test_columns_of_one_name(frame, without, request):
    pandas = pytest.importorskip("pandas")
    if without:
        request.getfixturevalue("no_pyarrow")
    refused(lambda: tv.estimate(pandas.concat([frame, frame[["a:0"]]], axis=1)), "two columns named `a:0`")
    twice = pandas.concat([frame, frame[["label"]]], axis=1)
    refused(lambda: tv.estimate(twice, label="label"), "two columns named `label`")


@pytest.mark.parametrize("without", [False, True])
def test_values_that_are_missing_or_not_finite(frame, without, request):
    if without:
        request.getfixturevalue("no_pyarrow")
    broken = frame.copy()
    broken.loc[41, "b:1"] = np.nan
    refused(lambda: tv.estimate(broken), "row 42", "`b:1`", "missing")
    broken.loc[41, "b:1"] = np.inf
    refused(lambda: tv.estimate(broken), "row 42", "`b:1`", "inf")


def test_columns_of_lists_that_differ(scores, no_pyarrow):
    pandas = pytest.importorskip("pandas")
    lists = {view: list(array) for view, array in by_view(scores).items()}
    refused(lambda: tv.estimate(pandas.DataFrame(lists | {"b": [*lists["b"][1:], [1.0]]})), "column `b`")
    refused(lambda: tv.estimate(pandas.DataFrame(lists | {"b": [*lists["b"][1:], None]})), "column `b`")
    refused(lambda: tv.estimate(pandas.DataFrame(lists | {"b": [[]] * ROWS})), "column `b`")


# Columns beside the scores


@pytest.mark.parametrize("option", ["label", "by", "cluster"])
def test_arrays_beside_the_scores(scores, files, option):
    ask = lambda values, data=scores: tv.estimate(data, **{option: values})  # noqa: E731
    refused(lambda: ask(np.zeros(7)), f"`{option}` has 7 values for the 3000 rows")
    refused(lambda: ask([]), f"`{option}` has 0 values")
    refused(lambda: ask(np.zeros((ROWS, 2))), f"`{option}` has 2 axes")
    refused(lambda: ask(5), f"`{option}` has 0 axes")
    refused(lambda: ask([[1], [2, 3]]), f"`{option}` is not one value a row")
    refused(lambda: ask("zog"), "no column `zog`")
    refused(
        lambda: ask(np.zeros(ROWS), [scores[:1000], scores[1000:]]),
        f"`{option}` is an array",
        "several tables",
    )
    refused(lambda: ask(np.zeros(ROWS), files / "all.csv"), f"`{option}` is an array", "files")


def test_labels(scores, labels):
    refused(lambda: tv.estimate(scores, label=["zog"] * ROWS), "row 1", "`zog`")
    refused(lambda: tv.estimate(scores, label=[None] * ROWS), "0 of the rows have a label")
    refused(lambda: tv.estimate(scores, label=["2026-01-01"] * ROWS), "no class")
    refused(lambda: tv.train(by_view(scores), label=[None] * ROWS), "label")
    refused(lambda: tv.train(by_view(scores), label=["one"] * ROWS), "at least two classes")
    refused(lambda: tv.train(by_view(scores), label=labels[:-1]), "`label` has 2999 values")


# Options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "zog"}, "`loss` is `zog`: it may be log, hinge"),
        ({"input": "zog"}, "`input` is `zog`"),
        ({"feature_map": "zog"}, "`feature_map` is `zog`"),
        ({"latent": "zog"}, "latent"),
        ({"latent": 0}, "latent is 0"),
        ({"latent": 10**6}, "at most"),
        ({"latent": {"zog": 2}}, "no class `zog`"),
        ({"latent": {"0": 0}}, "latent"),
        ({"latent": [3, 4]}, "`latent` is a list: one value"),
        ({"loss": ["log", "hinge"]}, "`loss` is a list: one value"),
        ({"level": 2}, "level is 2"),
        ({"level": float("nan")}, "level"),
        ({"level": "x"}, "`level` is `x`"),
        ({"seed": -1}, "`seed` is `-1`"),
        ({"seed": 1.5}, "`seed` is `1.5`"),
        ({"seed": 2**64}, "`seed`"),
        ({"threads": 0}, "`threads` is 0"),
        ({"threads": -1}, "`threads` is -1"),
        ({"threads": 2**70}, "`threads`"),
        ({"amplify": 0}, "at least three"),
        ({"amplify": -3}, "`amplify` is `-3`"),
        ({"label_budget": 0}, "label_budget is 0"),
        ({"views": ["a", "b"]}, "view"),
        ({"views": 5}, "view"),
        ({"views": object()}, "no list of names"),
        ({"classes": ["x"]}, "1 class name(s)"),
        ({"classes": ["x", "y", "y"]}, "`y` is given twice"),
        ({"group": "zog"}, "no view `zog`"),
        ({"group": ""}, "lacks a view"),
        ({"features": ["zog"]}, "`zog`"),
        ({"label_rows": True}, "`label_budget` is needed too"),
        ({"keep": ["zog"]}, "needed too"),
        ({"amplify": 16, "label": ["0"] * ROWS}, "`label` cannot be given together with `amplify`"),
        ({"save_posterior": "/zog/zog"}, "/zog/zog"),
    ],
)
def test_options(scores, options, words):
    refused(lambda: tv.estimate(scores, **options), words)


@pytest.mark.parametrize(
    "options",
    [{"zog": 1}, {"metrics": "yes"}, {"metrics": 5}, {"threads": 1.5}, {"threads": "x"}, {"group": 5}],
)
def test_wrong_calls(scores, options):
    refused(lambda: tv.estimate(scores, **options), kind=TypeError)


def test_options_of_other_questions(scores, table, labels):
    refused(lambda: tv.compare(table, source_label="label"), "`source` is needed too")
    refused(lambda: tv.compare(table, source=[table, table]), "`source` is 2 tables")
    refused(lambda: tv.compare(table, source=5), "no table")
    refused(lambda: tv.diagnose(table, svg="/zog/zog.svg"), "/zog/zog.svg")
    refused(lambda: tv.label(table, output="/zog/zog.csv"), "/zog/zog.csv")
    refused(lambda: tv.label(table, output="zog.zog"), "zog.zog")
    refused(lambda: tv.train(by_view(scores), label=None), "`label` is needed too")
    refused(lambda: tv.train(by_view(scores), label=labels, method="zog"), "adagrad, lbfgs")
    refused(lambda: tv.train(by_view(scores), label=labels, epochs=0), "epochs is 0")
    refused(lambda: tv.train(by_view(scores), label=labels, step=-1.0), "step is -1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"preset": "zog"}, "`preset` is `zog`"),
        ({"rows": 0}, "`rows` is `0`"),
        ({"views": 2}, "`views` is `2`"),
        ({"classes": 1}, "`classes` is `1`"),
        ({"shared": 2.0}, "shared is 2"),
        ({"missing": 2.0}, "missing is 2"),
        ({"annotators": 5}, "`crowd` is needed too"),
        ({"stay": 0.5}, "`hmm` is needed too"),
        ({"crowd": True, "hmm": True}, "`crowd` cannot be given together with `hmm`"),
        ({"crowd": True, "spammers": 0.8, "adversaries": 0.8}, "together at most 1"),
        ({"hmm": True, "shortest": 9, "longest": 5}, "9 to 5"),
    ],
)
def test_simulations(options, words):
    refused(lambda: tv.simulate(**options), words)


# Features and models


def test_features(scores, labels, model):
    refused(lambda: tv.train({}, label=labels), "no view")
    refused(lambda: tv.train({"a": scores[:, 0, 0]}, label=labels), "view `a` has 1 axes")
    refused(lambda: tv.train({"a": scores[:, 0, :0]}, label=labels), "view `a` has no features")
    refused(lambda: tv.train({"a": scores[:0, 0]}, label=[]), "view `a` has no rows")
    refused(
        lambda: tv.train({"a": scores[:, 0], "b": scores[:5, 1]}, label=labels),
        "view `b` has 5 rows and view `a` 3000",
    )
    refused(
        lambda: tv.train({view: array * np.nan for view, array in by_view(scores).items()}, label=labels),
        "row 1",
    )
    refused(lambda: tv.score({"a": scores[:, 0]}, model=model), "no view `b`")
    refused(
        lambda: tv.score({view: array[:, :2] for view, array in by_view(scores).items()}, model=model),
        "feature `2`",
    )
    refused(lambda: tv.score(by_view(scores), model="zog.safetensors"), "no file `zog.safetensors`")
    refused(lambda: tv.score(by_view(scores), model=None), "`model` is needed too")
    refused(lambda: tv.adapt(by_view(scores), model=model, loss="zog"), "`zog`")
    refused(lambda: tv.adapt(by_view(scores), model=model, radius=-1.0), "radius is -1")
    refused(lambda: tv.adapt(by_view(scores), model=model, no_judgement=True), "radius")


def test_models(scores):
    weights, biases = {"a": np.zeros((2, 3))}, {"a": np.zeros(2)}
    refused(lambda: tv.Model({"a": np.zeros(3)}, biases, ["x", "y"]), "view `a`")
    refused(lambda: tv.Model(weights, {"a": np.zeros(3)}, ["x", "y"]), "view `a`")
    refused(lambda: tv.Model(weights, biases, ["x", "y", "z"]), "view `a`")
    refused(lambda: tv.Model({"a": np.full((2, 3), np.nan)}, biases, ["x", "y"]), "not finite")


# Votes


def test_votes(crowd):
    columns = crowd.to_dict()
    refused(lambda: tv.votes(crowd, item="zog"), "no column `zog`")
    refused(lambda: tv.votes(crowd, gold={"zog": "0"}), "`zog`")
    refused(lambda: tv.votes(crowd, gold=dict.fromkeys(columns["item"], "zog")), "`zog`")
    refused(lambda: tv.votes(crowd, gold={}), "`gold` is empty")
    refused(lambda: tv.votes(crowd, gold=5), "no table")
    refused(lambda: tv.votes(crowd, gold=[crowd, crowd]), "`gold` is 2 tables")
    refused(lambda: tv.votes(crowd, cuts=[2, 1]), "the smallest first")
    refused(lambda: tv.votes(crowd, cuts=["x"]), "`cuts` is `x`")
    refused(lambda: tv.votes(crowd, smoothing=-1.0), "smoothing is -1")
    refused(lambda: tv.votes(np.zeros((9, 3, 3))), "votes")
    refused(lambda: tv.votes(columns | {"vote": columns["vote"][:5]}), "column `vote` has 5 rows")
    refused(lambda: tv.votes({name: [] for name in columns}), "no rows")
    refused(lambda: tv.votes({}), "no rows")
    refused(lambda: tv.votes(columns | {"vote": [["x"]] * len(crowd)}), "column `vote` has 2 axes")
    two = [name in ("a0", "a1") for name in columns["annotator"]]
    pair = {
        name: [value for value, keep in zip(values, two, strict=True) if keep]
        for name, values in columns.items()
    }
    refused(lambda: tv.votes(pair), "2 annotator(s)")


# Sequences


@pytest.mark.parametrize(
    ("transition", "words"),
    [
        (np.zeros(3), "the shape (3,)"),
        (np.zeros((2, 3)), "the shape (2, 3)"),
        (np.zeros((3, 3, 3)), "the shape (3, 3, 3)"),
        (np.zeros((0, 0)), "3 states are named and `transition` has 0"),
        (np.full((3, 3), np.nan), "NaN"),
        (np.full((3, 3), np.inf), "inf"),
        (np.zeros((3, 3)) + 1j, "complex128 and not numbers"),
        (np.zeros((3, 3), dtype=object), "object and not numbers"),
        ([["a"]], "not numbers"),
        ([[1, 2], [3]], "no array"),
        (np.ma.masked_all((3, 3)), "masked"),
        (None, "not numbers"),
        (5.0, "the shape ()"),
        ("zog.csv", "no file `zog.csv`"),
    ],
)
def test_transitions(chains, transition, words):
    refused(lambda: tv.sequences(chains.table, transition=transition, states=["0", "1", "2"]), words)


def test_states(chains, table):
    square = np.log(np.full((3, 3), 0.2) + 0.4 * np.eye(3))
    refused(lambda: tv.sequences(chains.table, transition=square, states=["0", "1"]), "2 states are named")
    refused(lambda: tv.sequences(chains.table, transition=square, states=["0", "0", "1"]), "must differ")
    refused(lambda: tv.sequences(chains.table, transition=square, states=["initial", "0", "1"]), "`initial`")
    refused(lambda: tv.sequences(chains.table, transition=square, states=["x", "y", "z"]), "`emission:x`")
    refused(
        lambda: tv.sequences(chains.table, transition=square, initial=[0.0, 0.0]),
        "`initial` has the shape (2,)",
    )
    refused(lambda: tv.sequences(chains.table, transition=square, initial=["a"] * 3), "`initial` holds")
    refused(lambda: tv.sequences(table, transition=square), "no column `sequence`")


# Moments


def test_moments_have_no_rows(moments, scores):
    for option in (
        {"by": "x"},
        {"label": "x"},
        {"loss": "hinge"},
        {"metrics": True},
        {"keep": ["x"]},
        {"label_rows": True},
    ):
        refused(lambda option=option: tv.estimate(moments, **option), f"`{next(iter(option))}` is about rows")
    refused(lambda: tv.estimate([moments, scores]), "Moments is no table")
    refused(lambda: tv.diagnose(moments), "Moments is no table")
    refused(lambda: tv.plan(moments), "Moments is no table")


def test_moments_in_files(moments, tmp_path):
    path = tmp_path / "all.moments"
    moments.save(path)
    refused(lambda: tv.estimate(path, by="x"), "moments")
    refused(lambda: tv.estimate(path, loss="hinge"), "moments")
    refused(lambda: tv.plan(path), "moments")
    refused(lambda: moments.plan.accumulator().update(path), "moments")
    refused(lambda: moments.save(tmp_path / "zog" / "all.moments"), "zog")


def test_plans(scores, moments):
    plan = moments.plan
    refused(lambda: tv.plan(scores[:5]), "5 row(s)")
    refused(lambda: tv.plan(scores, cluster=np.arange(ROWS)), "`cluster` is an array")
    refused(lambda: tv.plan(scores, threads=0), "`threads` is 0")
    refused(lambda: tv.plan(scores, by="x"), kind=TypeError)
    refused(lambda: plan.accumulator(starting_at=-1), "`starting_at` is -1")
    refused(lambda: plan.accumulator(starting_at=2**64), "`starting_at`")
    refused(lambda: plan.accumulator(starting_at=0.5), kind=TypeError)
    refused(lambda: plan.accumulator(threads=0), "`threads` is 0")
    refused(lambda: plan.accumulator().update(scores[:, :, :2]), "class")
    refused(lambda: plan.accumulator().update(by_view(scores)), "no view `1`")
    refused(lambda: plan.accumulator().update(scores[:0]), "no rows")
    refused(lambda: plan.accumulator().finish().solve(), "0 row(s)")
    refused(lambda: moments.solve(level=2), "level is 2")
    refused(lambda: moments.solve(seed=-1), "`seed` is -1")
    refused(lambda: moments.solve(threads=0), "`threads` is 0")
    refused(lambda: moments.solve(level="x"), kind=TypeError)
    refused(lambda: moments + 1, kind=TypeError)


def test_accumulators_are_of_no_use_after_an_error(scores, moments):
    sums = moments.plan.accumulator()
    refused(lambda: sums.update(scores * np.inf), "row 1")
    refused(lambda: sums.update(scores), "finished, failed, or in use")
    sums = moments.plan.accumulator().update(scores)
    sums.finish()
    refused(sums.finish, "finished")


def test_moments_of_another_plan(scores, moments):
    other = tv.plan(by_view(scores)).accumulator().update(by_view(scores)).finish()
    refused(lambda: moments + other, "do not match")


# Bytes


def damaged(content, rng):
    """The same cut short, with bits flipped, with bytes changed, and with more at its end."""
    for _ in range(20):
        yield content[: rng.integers(0, len(content))]
        flipped = bytearray(content)
        flipped[rng.integers(0, len(content))] ^= 1 << int(rng.integers(0, 8))
        yield bytes(flipped)
        changed = bytearray(content)
        for at in rng.integers(0, min(len(content), 3000), 3):
            changed[at] = int(rng.integers(0, 256))
        yield bytes(changed)


@pytest.mark.parametrize("kind", [tv.Plan, tv.Moments, tv.Model])
def test_damaged_bytes(kind, moments, model):
    held = {tv.Plan: moments.plan, tv.Moments: moments, tv.Model: model}
    content = held[kind].to_bytes()
    for bad in damaged(content, np.random.default_rng(0)):
        try:
            found = kind.from_bytes(bad)
        except tv.TriviewError as error:
            assert "panicked" not in str(error)
        else:
            # A number of a model may become another; what is summed is checked.
            assert kind is tv.Model or found.to_bytes() == content
    for other, held_by_other in held.items():
        if other is not kind:
            refused(lambda it=held_by_other: kind.from_bytes(it.to_bytes()))
    for bad in (b"", b"x", b"\xff" * 8, b"\x00" * 99, b"{}", b"[]", b"null"):
        refused(lambda bad=bad: kind.from_bytes(bad))


@pytest.mark.parametrize("kind", ["Plan", "Moments", "Model"])
def test_bytes_of_another_version(kind, moments, model):
    held = {"Plan": moments.plan, "Moments": moments, "Model": model}[kind]
    content = held.to_bytes()
    match = re.search(rb'version\\?"\s*:\s*(\d)', content)
    other = content[: match.start(1)] + b"9" + content[match.end(1) :]
    refused(lambda: getattr(tv, kind).from_bytes(other), "version")
    # A pickle is loaded by the same bytes.
    pickled = pickle.dumps(held)
    assert content in pickled
    refused(lambda: pickle.loads(pickled.replace(content, other)), "version")


@pytest.mark.parametrize("kind", [tv.Plan, tv.Moments, tv.Model])
@pytest.mark.parametrize("thing", [None, "text", 5, [1]])
def test_bytes_that_are_none(kind, thing):
    with pytest.raises((TypeError, tv.TriviewError)):
        kind.from_bytes(thing)


# Texts


def test_texts_that_are_no_unicode(scores):
    """Halves of characters: refused, whatever the words."""
    for call in (
        lambda: tv.estimate(scores, classes=["a", "\ud800", "c"]),
        lambda: tv.estimate(dict(zip(["a", "\ud800", "c"], by_view(scores).values(), strict=True))),
        lambda: tv.estimate(scores, by=["\ud800"] * ROWS),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_words_of_files_are_those_of_frames(frame, tmp_path):
    """Only the name of the table differs."""
    pytest.importorskip("pyarrow")
    broken = frame.copy()
    broken.loc[41, "b:1"] = np.inf
    path = write_csv(tmp_path / "broken.csv", {name: list(broken[name]) for name in broken})
    texts = []
    for data in (broken, path):
        with pytest.raises(tv.TriviewError) as caught:
            tv.estimate(data)
        texts.append(re.sub("`the table`|`[^`]*broken.csv`|line|row|\\d+", "", str(caught.value)))
    assert texts[0] == texts[1]


def test_a_model_that_was_given_is_not_called_by_a_temporary_file():
    rng = np.random.default_rng(0)
    views = {view: rng.normal(size=(60, 2)) for view in "abc"}
    model = tv.train(views, label=np.arange(60) % 2, method="lbfgs")
    wider = {view: rng.normal(size=(60, 3)) for view in "abc"}
    with pytest.raises(tv.TriviewError) as refused:
        tv.score(wider, model=model)
    assert "the model" in str(refused.value)
    assert "given-model" not in str(refused.value)


@pytest.mark.parametrize(
    "damage", [lambda data: data + b"0", lambda data: data.replace(b"features", b"feacures")]
)
def test_a_damaged_model_is_refused(damage):
    rng = np.random.default_rng(0)
    model = tv.Model({"a": rng.normal(size=(2, 3))}, {"a": np.zeros(2)}, ["x", "y"])
    assert tv.Model.from_bytes(model.to_bytes()).classes == ["x", "y"]
    with pytest.raises(tv.TriviewError, match="damaged"):
        tv.Model.from_bytes(damage(model.to_bytes()))


def test_what_the_compiled_module_is_not_asked_is_refused_in_words():
    from triview import _core

    with pytest.raises(tv.TriviewError, match="axis 1"):
        _core.Records.of_columns("x", [("a", np.zeros((5, 0)), False)])
    assert len(_core.Records.of_columns("x", [("a", np.zeros((5, 2)), True)])) == 5
    with pytest.raises(tv.TriviewError, match="no `zog`"):
        _core.call("zog", [], [])
