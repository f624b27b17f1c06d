"""Whatever holds the rows, the answer has the same bits."""

import datetime
import itertools
import pickle
import sys

import numpy as np
import pytest
from conftest import ROWS, VIEWS, bits, by_view, run, write_csv

import triview as tv

# Few rows, and fewer a segment: whether to trust the answers is not the question here.
pytestmark = pytest.mark.filterwarnings("ignore::triview.UntrustedWarning")


def score_columns(table):
    return {name: values for name, values in table.to_dict().items() if ":" in name}


# Frames


def test_pandas(frame, answer):
    pytest.importorskip("pyarrow")
    assert bits(tv.estimate(frame)) == bits(answer)


def test_pandas_without_pyarrow(frame, answer, no_pyarrow):
    assert bits(tv.estimate(frame)) == bits(answer)


def test_pandas_in_two_levels(frame, answer):
    pandas = pytest.importorskip("pandas")
    levels = frame.copy()
    levels.columns = pandas.MultiIndex.from_tuples([(*name.split(":"), "")[:2] for name in frame.columns])
    assert bits(tv.estimate(levels)) == bits(answer)
    assert bits(tv.estimate(levels, label="label")) == bits(tv.estimate(frame, label="label"))


def test_pandas_whatever_its_index(frame, answer):
    assert bits(tv.estimate(frame.set_index(np.zeros(ROWS)))) == bits(answer)


@pytest.mark.parametrize("kind", ["Float64", "object", "double[pyarrow]", "Sparse[float]"])
def test_pandas_of_other_kinds(frame, answer, kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    assert bits(tv.estimate(frame.drop(columns="label").astype(kind))) == bits(answer)


def test_pandas_may_have_columns_that_arrow_has_no_type_for(frame, answer):
    strange = frame.assign(thing=[object(), 1, "x"] * (ROWS // 3), bent=1j)
    assert bits(tv.estimate(strange)) == bits(answer)


def test_polars(table, answer):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(table)
    assert bits(tv.estimate(frame)) == bits(answer)
    assert bits(tv.estimate([frame[:1000], frame[1000:]])) == bits(answer)


def test_pyarrow(table, answer):
    pyarrow = pytest.importorskip("pyarrow")
    whole = pyarrow.table(table)
    assert bits(tv.estimate(whole)) == bits(answer)
    assert bits(tv.estimate(whole.to_reader(max_chunksize=700))) == bits(answer)
    assert bits(tv.estimate(whole.to_batches(max_chunksize=700))) == bits(answer)
    assert bits(tv.estimate(whole.to_struct_array())) == bits(answer)


def test_duckdb(table, answer):
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    with duckdb.connect() as connection:
        connection.register("scores", pyarrow.table(table))
        assert bits(tv.estimate(connection.sql("select * from scores"))) == bits(answer)


def test_columns_of_lists(scores, answer):
    pyarrow = pytest.importorskip("pyarrow")
    lists = pyarrow.table({view: pyarrow.array(list(array)) for view, array in by_view(scores).items()})
    assert bits(tv.estimate(lists)) == bits(answer)
    polars = pytest.importorskip("polars")
    assert bits(tv.estimate(polars.DataFrame(lists))) == bits(answer)
    assert bits(tv.estimate(polars.DataFrame(by_view(scores)))) == bits(answer)


@pytest.mark.parametrize("without", [False, True])
def test_columns_of_lists_in_pandas(scores, answer, without, request):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if without:
        request.getfixturevalue("no_pyarrow")
    assert bits(
        tv.estimate(pandas.DataFrame({view: list(array) for view, array in by_view(scores).items()}))
    ) == bits(answer)


def test_a_table_of_the_package(table, answer):
    assert bits(tv.estimate(table)) == bits(answer)
    assert bits(tv.estimate([table])) == bits(answer)


# Arrays


def unaligned(scores):
    held = np.zeros(scores.size * 8 + 1, dtype="u1")
    array = np.frombuffer(held.data, dtype="f8", offset=1, count=scores.size).reshape(scores.shape)
    array[...] = scores
    assert not array.flags.aligned
    return array


@pytest.mark.parametrize(
    "held",
    [
        lambda scores: scores,
        lambda scores: scores.copy(),
        np.asfortranarray,
        lambda scores: np.repeat(scores, 2, axis=0)[::2],
        lambda scores: scores[:, :, ::-1].copy()[:, :, ::-1],
        lambda scores: np.pad(scores, ((0, 0), (1, 1), (2, 2)))[:, 1:-1, 2:-2],
        lambda scores: scores.astype(">f8"),
        lambda scores: scores.view(type("Own", (np.ndarray,), {})),
        np.ma.masked_array,
        unaligned,
        lambda scores: [scores[:1000], scores[1000:]],
        lambda scores: (scores[at : at + 500] for at in range(0, ROWS, 500)),
        lambda scores: itertools.chain([scores[:1000]], [scores[1000:]]),
    ],
)
def test_arrays(scores, answer, held):
    assert bits(tv.estimate(held(scores)), views=False) == bits(answer, views=False)


def test_arrays_on_disk(scores, answer, tmp_path):
    np.save(tmp_path / "scores.npy", scores)
    assert bits(tv.estimate(np.load(tmp_path / "scores.npy", mmap_mode="r")), views=False) == bits(
        answer, views=False
    )
    assert bits(tv.estimate(tmp_path / "scores.npy"), views=False) == bits(answer, views=False)


def test_an_array_a_view(scores, answer):
    views = by_view(scores)
    assert bits(tv.estimate(views)) == bits(answer)
    assert bits(tv.estimate({view: np.asfortranarray(array) for view, array in views.items()})) == bits(
        answer
    )
    assert bits(tv.estimate({view: array.tolist() for view, array in views.items()})) == bits(answer)
    halves = [
        {view: array[rows] for view, array in views.items()} for rows in (slice(1000), slice(1000, None))
    ]
    assert bits(tv.estimate(halves)) == bits(answer)


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "float16"])
def test_other_numbers_are_those_of_float64(scores, kind):
    rounded = (np.clip(scores, -6, 6) * 4 + 30).astype(kind)
    assert bits(tv.estimate(rounded)) == bits(tv.estimate(rounded.astype(float)))


def test_float32_is_that_of_its_file(scores, tmp_path):
    narrow = scores.astype(np.float32)
    np.save(tmp_path / "scores.npy", narrow)
    assert bits(tv.estimate(narrow)) == bits(tv.estimate(tmp_path / "scores.npy"))


def test_one_number_a_row_is_what_the_second_of_two_classes_has():
    scores = scores_of_two()
    odds = {view: array[:, 1] - array[:, 0] for view, array in by_view(scores).items()}
    two = {view: np.stack([np.zeros(len(array)), array], axis=1) for view, array in odds.items()}
    assert bits(tv.estimate(odds)) == bits(tv.estimate(two))
    chances = {view: 1 / (1 + np.exp(-array)) for view, array in odds.items()}
    both = {view: np.stack([1 - array, array], axis=1) for view, array in chances.items()}
    assert bits(tv.estimate(chances, input="probability")) == bits(tv.estimate(both, input="probability"))


def scores_of_two():
    columns = tv.simulate(preset="two", rows=ROWS).table.to_dict()
    return np.stack(
        [np.stack([columns[f"{view}:{name}"] for name in "01"], axis=1) for view in VIEWS], axis=1
    )


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_arrays_are_not_copied(kind):
    code = f"""
import resource, numpy, triview
rng = numpy.random.default_rng(0)
scores = numpy.empty((600_000, 3, 8), dtype="{kind}")
for at in range(0, len(scores), 20_000):
    scores[at : at + 20_000] = rng.normal(size=(20_000, 3, 8))
triview.plan(scores[:5000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sums = triview.plan(scores[:5000]).accumulator(threads=1)
sums.update(scores)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, scores.nbytes // 1024)
"""
    grown, size = map(int, run("-c", code).stdout.split())
    assert grown < size / 2


def test_memory_is_given_back(scores):
    narrow = scores.astype(np.float32)
    before = sys.getrefcount(narrow)
    tv.estimate(narrow)
    assert sys.getrefcount(narrow) == before
    # What is held by an export could not be resized.
    narrow.resize((1, 3, 3), refcheck=False)


# Files


def test_files(files, answer):
    assert bits(tv.estimate(str(files / "all.csv"))) == bits(answer)
    assert bits(tv.estimate(files / "all.csv")) == bits(answer)
    assert bits(tv.estimate([files / "first.csv", str(files / "second.csv")])) == bits(answer)


def test_files_and_frames_together(files, table, answer):
    rest = {view: np.stack([table[f"{view}:{name}"][1000:] for name in "012"], axis=1) for view in VIEWS}
    assert bits(tv.estimate([files / "first.csv", rest], classes=["0", "1", "2"])) == bits(answer)


# Views that are missing


@pytest.mark.parametrize("without", [False, True])
def test_missing_views_are_those_of_a_file(frame, tmp_path, without, request):
    if without:
        request.getfixturevalue("no_pyarrow")
    else:
        pytest.importorskip("pyarrow")
    holes = frame.copy()
    holes.loc[::7, ["a:0", "a:1", "a:2"]] = np.nan
    holes.loc[3::11, ["b:0", "b:1", "b:2"]] = np.nan
    path = write_csv(tmp_path / "holes.csv", {name: list(holes[name]) for name in holes})
    assert bits(tv.estimate(holes)) == bits(tv.estimate(path))
    assert bits(tv.estimate(holes.drop(columns="label").astype("Float64"))) == bits(tv.estimate(path))


def test_missing_views_in_polars(table, tmp_path):
    polars = pytest.importorskip("polars")
    holes = polars.DataFrame(table).with_columns(
        polars.when(polars.int_range(ROWS) % 7 == 0).then(None).otherwise(polars.col(name)).alias(name)
        for name in ("a:0", "a:1", "a:2")
    )
    path = write_csv(tmp_path / "holes.csv", holes.to_dict(as_series=False))
    assert bits(tv.estimate(holes)) == bits(tv.estimate(path))


# Columns beside the scores


def test_labels_are_columns_or_arrays(table, scores, labels):
    expected = bits(tv.estimate(table, label="label"))
    assert bits(tv.estimate(table, label=labels)) == expected
    assert bits(tv.estimate(table, label=np.array(labels))) == expected
    assert bits(tv.estimate(table, label=np.array(labels).astype(int))) == expected
    assert bits(tv.estimate(table, label=np.array(labels).astype(float))) == expected
    assert bits(tv.estimate(table, label=np.array(labels).astype("S"))) == expected
    assert bits(tv.estimate(by_view(scores), label=labels)) == expected


def few(labels):
    return [label if at % 5 == 0 else None for at, label in enumerate(labels)]


def test_labels_that_are_missing(table, labels, tmp_path):
    columns = table.to_dict()
    path = write_csv(tmp_path / "few.csv", columns | {"label": few(labels)})
    expected = bits(tv.estimate(path, label="label"))
    assert bits(tv.estimate(table, label=few(labels))) == expected
    numbers = [np.nan if label is None else int(label) for label in few(labels)]
    assert bits(tv.estimate(table, label=np.array(numbers))) == expected
    hidden = np.ma.masked_array(np.array(labels).astype(int), mask=np.arange(ROWS) % 5 != 0)
    assert bits(tv.estimate(table, label=hidden)) == expected


def test_labels_of_frames(table, labels):
    pandas = pytest.importorskip("pandas")
    expected = bits(tv.estimate(table, label=few(labels)))
    numbers = [None if label is None else int(label) for label in few(labels)]
    series = [
        pandas.Series(few(labels)), pandas.Series(few(labels), dtype="category"), pandas.Series(few(labels), dtype="string"),
        pandas.Series(numbers), pandas.Series(numbers, dtype="Int64"),
    ]  # fmt: skip
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    series += [
        polars.Series(few(labels)),
        polars.Series(numbers),
        polars.Series(few(labels), dtype=polars.Categorical),
    ]
    series += [
        pyarrow.array(few(labels)),
        pyarrow.array(numbers),
        pyarrow.array(few(labels)).dictionary_encode(),
    ]
    series += [pyarrow.chunked_array([few(labels)])]
    for held in series:
        assert bits(tv.estimate(table, label=held)) == expected, type(held)


GROUPS = {
    "texts": np.array(["mon, day", 'tue "x"', "🦊"]),
    "whole": np.array([1, 2, 3]),
    "narrow": np.array([1, 2, 3], dtype="u1"),
    "wide": np.array([1, 2, 3], dtype="u8") + 2**63,
    "numbers": np.array([0.5, 1.25, -2.0]) + 0.25,
    "narrow numbers": np.array([0.1, 0.2, 0.3], dtype="f4"),
    "days": np.array(["2026-01-01", "2026-01-02", "2026-01-03"], dtype="M8[D]"),
    "moments": np.array(["2026-01-01", "2026-01-02T03:04:05", "2026-01-03"], dtype="M8[ns]"),
    "dates": np.array([datetime.date(2026, 1, day) for day in (1, 2, 3)]),
}


@pytest.mark.parametrize("kind", [kind for kind in GROUPS if kind != "days"])  # which pandas does not have
@pytest.mark.parametrize("without", [False, True])
def test_segments_are_columns_or_arrays(frame, kind, without, request):
    pandas = pytest.importorskip("pandas")
    if without:
        request.getfixturevalue("no_pyarrow")
    else:
        pytest.importorskip("pyarrow")
    groups = GROUPS[kind][np.arange(ROWS) % 3]
    column = tv.estimate(pandas.concat([frame, pandas.Series(groups, name="group")], axis=1), by="group")
    array = tv.estimate(frame, by=groups)
    assert column.segments.keys() == array.segments.keys()
    assert len(column.segments) == 3
    names = lambda answer: {key: value for key, value in answer.to_dict()["by"].items() if key != "column"}  # noqa: E731
    assert names(column) == names(array)


def test_segments_of_moments_have_readable_names(table):
    for kind in ("days", "moments"):
        segments = tv.estimate(table, by=GROUPS[kind][np.arange(ROWS) % 3]).segments
        assert next(iter(segments)).startswith("2026-01-01")


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "boolean"])
def test_segments_keep_their_names_without_pyarrow(frame, kind, monkeypatch, request):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    values = [True, None, False] if kind == "boolean" else [2**60, None, 2**60 + 1]
    grouped = frame.assign(group=pandas.array([values[at % 3] for at in range(ROWS)], dtype=kind))
    expected = bits(tv.estimate(grouped, by="group"))
    request.getfixturevalue("no_pyarrow")
    assert bits(tv.estimate(grouped, by="group")) == expected


def test_clusters_are_columns_or_arrays(table, tmp_path):
    clusters = np.arange(ROWS) // 3
    path = write_csv(tmp_path / "clustered.csv", table.to_dict() | {"person": list(clusters)})
    expected = bits(tv.estimate(path, cluster="person"))
    assert expected != bits(tv.estimate(table))
    assert bits(tv.estimate(table, cluster=clusters)) == expected
    assert bits(tv.estimate(table, cluster=[str(cluster) for cluster in clusters])) == expected


def test_an_array_has_its_own_column(frame, labels):
    """Whatever columns a table has."""
    disguised = frame.rename(columns={"label": "triview.label"}).assign(**{"triview.label": "0"})
    assert tv.estimate(disguised, label=labels).risk == tv.estimate(frame, label="label").risk


# Names


@pytest.mark.parametrize(
    "names", [["a,b", 'say "x"', "🦊"], ["a:b", "--loss", "="], ["", " ", "None"], [1, 2.5, None]]
)
def test_names_of_classes(scores, answer, names):
    expected = [str(name) for name in names]
    for data in (scores, by_view(scores)):
        named = tv.estimate(data, classes=names)
        assert named.classes == expected
        assert list(named.class_prior) == expected
        assert named.risk == answer.risk


def test_names_of_classes_in_columns_and_labels(scores, labels, answer):
    names = ["a,b", 'say "x"', "🦊"]
    truth = [names[int(label)] for label in labels]
    columns = {
        f"{view}:{name}": scores[:, at, index]
        for at, view in enumerate(VIEWS)
        for index, name in enumerate(names)
    }
    table = tv.Frame(
        tv._core.Records.of_columns("t", [(name, values.copy(), False) for name, values in columns.items()])
    )
    named = tv.estimate(table, label=truth)
    assert named.classes == names
    assert bits(named, views=False) == bits(tv.estimate(by_view(scores), label=labels), views=False)


def test_names_of_views(scores, answer):
    named = tv.estimate(dict(zip(["a,b", 'say "x"', "--x"], by_view(scores).values(), strict=True)))
    assert named.views == ["a,b", 'say "x"', "--x"]
    assert bits(named, views=False) == bits(answer, views=False)
    more = by_view(scores) | {"a+b, c": scores[:, 0]}
    assert tv.estimate(more, views=["a", "b", "c"]).risk == answer.risk


def test_votes_as_columns(crowd):
    """Where there is no package for frames."""
    columns = crowd.to_dict()
    expected = bits(tv.votes(crowd))
    assert bits(tv.votes(columns)) == expected
    assert bits(tv.votes(columns | {"vote": [int(vote) for vote in columns["vote"]]})) == expected
    assert bits(tv.votes(crowd, label=columns["truth"])) == bits(tv.votes(crowd, label="truth"))


def test_sequences_as_columns(chains, tmp_path):
    path = tmp_path / "transition.csv"
    path.write_text(chains.transition)
    expected = bits(tv.sequences(chains.table, transition=path))
    assert bits(tv.sequences(chains.table.to_dict(), transition=path)) == expected
    lines = [line.split(",") for line in chains.transition.split()]
    numbers = np.array([line[1:] for line in lines[1:]], dtype=float)
    array = tv.sequences(chains.table, transition=numbers[:3], initial=numbers[3], states=lines[0][1:])
    assert bits(array) == expected


def test_tables_that_answers_come_as(table, frame, answer):
    assert table.columns == list(frame.columns)
    assert len(table) == ROWS
    again = pickle.loads(pickle.dumps(table))
    assert bits(tv.estimate(again)) == bits(answer)
    with pytest.raises(KeyError, match="there are a:0"):
        table["zog"]


def test_features_may_be_sparse_or_narrow(scores, labels, model):
    views = by_view(scores)
    narrow = tv.score({view: array.astype(np.float32) for view, array in views.items()}, model=model)
    assert np.allclose(narrow["a:0"], model.scores(views)["a"][:, 0], atol=1e-5)
    sparse = pytest.importorskip("scipy.sparse")
    scored = tv.score({view: sparse.csr_array(array) for view, array in views.items()}, model=model)
    assert scored.to_dict().keys() == tv.score(views, model=model).to_dict().keys()
    assert np.array_equal(scored["a:0"], tv.score(views, model=model)["a:0"])


def test_the_folder_for_a_while_is_empty_afterwards(scores, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tv.label(scores)
    with pytest.raises(tv.TriviewError):
        tv.label(scores, loss="zog")
    assert list(tmp_path.iterdir()) == []
