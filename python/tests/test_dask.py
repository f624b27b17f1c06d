"""Rows in Dask: the answers of one process, with real workers, one of which is killed."""

import logging
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import ROWS, by_view
from test_moments import assert_close

import triview as tv

dask = pytest.importorskip("dask")
pa = pytest.importorskip("pyarrow")
frames = pytest.importorskip("dask.dataframe")

from clusters import Killer, assert_same, cut, hiding, part_of, slow_part, written  # noqa: E402

import triview.dask  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::triview.UntrustedWarning"),
    # Dask itself calls what pandas means to take away.
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]


@pytest.fixture(scope="module")
def arrow(table):
    return pa.table(table)


@pytest.fixture(scope="module")
def path(arrow, tmp_path_factory):
    return written(arrow, tmp_path_factory.mktemp("rows") / "rows.arrow")


@pytest.fixture(scope="module")
def plan(arrow):
    return tv.plan(arrow)


@pytest.fixture(scope="module")
def whole(plan, arrow):
    return plan.accumulator().update(arrow).finish().solve()


@pytest.fixture(scope="module")
def ddf(arrow):
    return frames.from_pandas(arrow.to_pandas(), npartitions=7)


def parts(path, partitions):
    """Delayed tables of any sizes."""
    return [dask.delayed(part_of)(path, begin, end) for begin, end in cut(ROWS, partitions)]


@pytest.mark.parametrize("partitions", [1, 7, 200])
def test_any_partitions_give_the_answer_of_one_process(path, plan, whole, partitions):
    summed = triview.dask.moments(parts(path, partitions), plan=plan)
    assert summed.rows == ROWS
    assert_close(summed.solve(), whole)


def test_all_of_an_answer_is_that_of_one_process(ddf, table):
    ours = triview.dask.estimate(ddf, metrics=True)
    assert_close(ours, tv.estimate(table, metrics=True))
    assert_close(triview.dask.estimate(ddf, loss="brier"), tv.estimate(table, loss="brier"))


def test_bags_and_files(arrow, whole, plan, tmp_path):
    from dask import bag
    from pyarrow import parquet

    rows = bag.from_sequence(arrow.to_pylist(), npartitions=6)
    assert_close(triview.dask.moments(rows, plan=plan).solve(), whole)
    halves = bag.from_sequence([arrow.slice(0, 1500), arrow.slice(1500)], npartitions=2)
    assert_close(triview.dask.moments(halves, plan=plan).solve(), whole)
    for name, part in (("a", arrow.slice(0, 1000)), ("b", arrow.slice(1000))):
        parquet.write_table(part, tmp_path / f"{name}.parquet")
    files = [tmp_path / "a.parquet", str(tmp_path / "b.parquet")]
    assert_close(triview.dask.moments(files, plan=plan).solve(), whole)
    assert_close(triview.dask.estimate(frames.read_parquet(files)), tv.estimate(arrow))


def test_views_as_arrays(scores):
    delayed = [dask.delayed(by_view(scores[at : at + 1000])) for at in range(0, ROWS, 1000)]
    assert_close(triview.dask.estimate(delayed), tv.estimate(by_view(scores)))


def test_segments_and_clusters(ddf):
    days = ddf.assign(day=(ddf["a:1"] * 1000).round() % 2)
    ours, theirs = triview.dask.estimate(days, by="day"), tv.estimate(days.compute(), by="day")
    assert_same(ours, theirs)
    users = ddf.assign(user=(ddf["a:0"] * 100).round().astype(int))
    ours = triview.dask.estimate(users, cluster="user")
    assert_close(ours, tv.estimate(users.compute(), cluster="user"))


def test_labels_are_computed_when_asked_for(ddf, table):
    labels, expected = triview.dask.label(ddf), tv.label(table)
    assert list(labels.columns) == expected.columns
    found = labels.compute()
    for name in expected.columns[1:]:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-9)
    assert found["label"].tolist() == list(expected["label"])


def test_diagnose(ddf, table):
    assert_close(triview.dask.diagnose(ddf), tv.diagnose(table))


def test_votes_are_those_of_one_process(crowd, caplog):
    rows = pa.table(crowd).select(["item", "annotator", "vote"])
    with caplog.at_level(logging.INFO, "triview"):
        ours = triview.dask.votes(frames.from_pandas(rows.to_pandas(), npartitions=4))
    assert caplog.messages[0].startswith(f"collecting {rows.num_rows:,} votes")
    assert_close(ours, tv.votes(rows))


# What fails


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_killed_worker_changes_nothing(path, plan, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    # Workers import these tests from where they are.
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    )
    bounds = cut(ROWS, 12)
    sizes = [end - begin for begin, end in bounds]
    rows = [dask.delayed(slow_part)(path, *bound, tmp_path, at) for at, bound in enumerate(bounds)]
    undisturbed = triview.dask.moments(parts(path, 12), plan=plan, sizes=sizes)
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        workers = sorted(client.run(os.getpid).values())
        killer = Killer(lambda: len(list(tmp_path.iterdir())) >= 4, lambda: workers)
        killer.start()
        summed = triview.dask.moments(rows, plan=plan, sizes=sizes)
        killer.join(60)
    assert killer.killed == workers[:1]
    assert len(list(tmp_path.iterdir())) > 1 + 12
    assert summed == undisturbed


# What cannot be answered


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_without_the_package_are_told_how_to_get_it(ddf, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", hiding(tmp_path))
    options = {"n_workers": 1, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    said = pytest.raises(tv.TriviewError, match="the workers have no package triview: install the wheel")
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster), said:
        triview.dask.estimate(ddf)


@pytest.mark.parametrize("planned", [False, True])
def test_the_partition_and_the_row_of_a_bad_value_are_named(arrow, plan, planned):
    frame = arrow.to_pandas()
    frame.loc[1000, "b:1"] = np.inf
    tables = [dask.delayed(frame.iloc[begin:end]) for begin, end in ((0, 900), (900, 900), (900, ROWS))]
    with pytest.raises(tv.TriviewError, match=r"^partition 2, row 101, column `b:1`: the score is inf"):
        triview.dask.estimate(tables, plan=plan if planned else None)


@pytest.mark.parametrize("planned", [False, True])
def test_a_column_that_some_parts_lack_is_named(arrow, plan, planned):
    tables = [dask.delayed(arrow.slice(0, 2000)), dask.delayed(arrow.slice(2000).drop_columns(["c:2"]))]
    with pytest.raises(tv.TriviewError, match=r"partition 1.*c"):
        triview.dask.estimate(tables, plan=plan if planned else None)


def test_options_are_checked(ddf, plan):
    with pytest.raises(tv.TriviewError, match="nothing of Dask's"):
        triview.dask.estimate(3)
    with pytest.raises(tv.TriviewError, match="`period` is not for rows on many machines"):
        triview.dask.estimate(ddf, by="label", period="day")
    with pytest.raises(tv.TriviewError, match="`loss` is settled by `plan`"):
        triview.dask.estimate(ddf, plan=plan, loss="hinge")
    with pytest.raises(tv.TriviewError, match="there is no column `day`"):
        triview.dask.estimate(ddf, by="day")
    with pytest.raises(tv.TriviewError, match="there is no column `id` to keep"):
        triview.dask.label(ddf, fitted=triview.dask.moments(ddf, plan=plan), keep=["id"])
    with pytest.raises(tv.TriviewError, match="there are no rows"):
        triview.dask.estimate(ddf[ddf["a:0"] > 1e9])
    with pytest.raises(tv.TriviewError, match=r"2999 rows were counted and 3000 were summed.*persist\(\)"):
        triview.dask.moments(ddf, plan=plan, sizes=[ROWS - 1])
    wide = frames.from_pandas(
        pa.table({f"{v}:{i}": [0.5] for v in "abc" for i in range(70)}).to_pandas(), npartitions=1
    )
    with pytest.raises(tv.TriviewError, match="70 classes: third moments.*triview.estimate"):
        triview.dask.estimate(wide)
