"""Rows in Spark: the answers of one process, with real executors that fail, and errors that say which row of which partition."""

import logging
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROWS, by_view
from test_moments import assert_close

import triview as tv

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)
pa = pytest.importorskip("pyarrow")

from clusters import (  # noqa: E402
    SPECULATION,
    WARNINGS,
    Killer,
    assert_same,
    cut,
    executors,
    hiding,
    sliced,
    spark_cluster,
    spark_session,
    written,
)
from pyspark.sql import functions as F  # noqa: E402, N812

import triview.spark  # noqa: E402
from triview import _parts  # noqa: E402

pytestmark = [pytest.mark.filterwarnings(warning) for warning in WARNINGS]
pytestmark += [pytest.mark.filterwarnings("ignore::triview.UntrustedWarning")]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """Two executors on hosts of their own, and copies of slow tasks: what is counted twice would show."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SPARK_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON"):
            patch.setenv(name, "")
        with spark_cluster(folder) as url:
            session = spark_session(folder, url, **SPECULATION)
            yield session
            session.stop()
    end = time.monotonic() + 20
    while executors() and time.monotonic() < end:
        time.sleep(0.1)
    assert not executors()


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
def df(spark, path):
    return sliced(spark, path, cut(ROWS, 7)).persist()


def one_process(plan, table):
    return plan.accumulator().update(table).finish()


# The same answer


@pytest.mark.parametrize("partitions", [1, 7, 40])
def test_any_partitions_give_the_answer_of_one_process(spark, path, plan, arrow, partitions):
    rows = sliced(spark, path, cut(ROWS, partitions))
    summed = triview.spark.moments(rows, plan=plan)
    assert summed.rows == ROWS
    assert_close(summed.solve(), one_process(plan, arrow).solve())


def test_all_of_an_answer_is_that_of_one_process(df, table):
    ours = triview.spark.estimate(df, metrics=True)
    assert_close(ours, tv.estimate(table, metrics=True))
    assert ours.notes == [
        "the moments are of all 3000 rows, the error rate and other metrics of a sample of 3000"
    ]
    assert_close(triview.spark.estimate(df, loss="brier"), tv.estimate(table, loss="brier"))
    with_plan = triview.spark.estimate(df, plan=tv.plan(table), sizes=[b - a for a, b in cut(ROWS, 7)])
    assert_close(with_plan, one_process(tv.plan(table), table).solve())


def test_segments(df):
    place = F.monotonically_increasing_id() % 3
    days = df.withColumn("day", F.when(place == 0, "mon").when(place == 1, "tue"))
    ours, theirs = triview.spark.estimate(days, by="day"), tv.estimate(days.toArrow(), by="day")
    assert set(ours.segments) == {"mon", "tue", "(missing)"}
    assert_same(ours, theirs)


def test_clusters_need_no_shuffle(df):
    grouped = df.withColumn("user", F.abs(F.hash("`a:0`")) % 300)
    ours = triview.spark.estimate(grouped, cluster="user")
    assert_close(ours, tv.estimate(grouped.toArrow(), cluster="user"))
    assert ours.standard_error != triview.spark.estimate(df).standard_error


def test_lists_and_vectors_are_views(df, scores):
    from pyspark.ml.functions import array_to_vector

    lists = df.select(*(F.array(*(f"`{view}:{i}`" for i in range(3))).alias(view) for view in "abc"))
    expected = tv.estimate(by_view(scores))
    assert_close(triview.spark.estimate(lists), expected)
    vectors = lists.select(*(array_to_vector(view).alias(view) for view in "abc"))
    assert_close(triview.spark.estimate(vectors), expected)


def test_columns_and_probabilities_are_read_as_told(df):
    total = {view: " + ".join(f"exp(`{view}:{i}`)" for i in range(3)) for view in "abc"}
    named = df.selectExpr(
        *(f"exp(`{view}:{i}`) / ({total[view]}) as {view}_{i}" for view in "abc" for i in range(3))
    )
    told = {"columns": "{view}_{class}", "input": "probability"}
    assert_close(triview.spark.estimate(named, **told), tv.estimate(named.toArrow(), **told))


def test_labels_are_computed_when_asked_for(df, table):
    labels, expected = triview.spark.label(df), tv.label(table)
    assert labels.columns == expected.columns
    found = labels.toArrow()
    for name in expected.columns[1:]:
        np.testing.assert_allclose(found.column(name).to_numpy(), expected[name], rtol=1e-9, atol=1e-9)
    assert found.column("label").to_pylist() == list(expected["label"])
    fitted = triview.spark.moments(df)
    assert triview.spark.label(df, fitted=fitted, keep=[]).columns == expected.columns[1:]


def test_diagnose(df, table):
    ours, theirs = triview.spark.diagnose(df), tv.diagnose(table)
    assert ours.p_value == pytest.approx(theirs.p_value, abs=1e-9)
    assert_close(ours, theirs)


def test_sums_are_kept_and_added(spark, path, plan, arrow):
    parts = [
        triview.spark.moments(sliced(spark, path, [half]), plan=plan) for half in ((0, 2000), (2000, ROWS))
    ]
    assert sum(parts).rows == ROWS
    assert sum(parts).solve().risk == pytest.approx(one_process(plan, arrow).solve().risk, rel=1e-3)


def test_votes_are_those_of_one_process(spark, crowd, caplog):
    rows = pa.table(crowd).select(["item", "annotator", "vote"])
    df = spark.createDataFrame(rows.to_pandas()).repartition(5).persist()
    with caplog.at_level(logging.INFO, "triview"):
        ours = triview.spark.votes(df)
    assert caplog.messages[0].startswith(f"collecting {rows.num_rows:,} votes on some ")
    theirs = tv.votes(df.toArrow())
    assert_close(ours, theirs)
    assert ours.labels().to_dict()["item"] == theirs.labels().to_dict()["item"]
    with pytest.raises(tv.TriviewError, match="most_memory"):
        triview.spark.votes(df, most_memory=1000)


# What fails


@pytest.fixture
def attempts(tmp_path):
    folder = tmp_path / "attempts"
    folder.mkdir()
    return folder


def test_a_killed_executor_changes_nothing(spark, path, plan, attempts):
    sizes = [end - begin for begin, end in cut(ROWS, 12)]
    undisturbed = triview.spark.moments(sliced(spark, path, cut(ROWS, 12)), plan=plan, sizes=sizes)
    before = executors()
    assert len(before) == 2
    killer = Killer(lambda: len(list(attempts.iterdir())) >= 4, executors)
    killer.start()
    rows = sliced(spark, path, cut(ROWS, 12), attempts=str(attempts), seconds=0.5)
    summed = triview.spark.moments(rows, plan=plan, sizes=sizes)
    killer.join(60)
    assert killer.killed == before[:1]
    # Something was done twice, and counted once, to the last bit.
    assert len(list(attempts.iterdir())) > 1 + 12
    assert summed.rows == ROWS
    assert summed == undisturbed


def test_a_copy_of_a_slow_task_changes_nothing(spark, path, plan, attempts):
    slow = {"attempts": str(attempts), "seconds": 0.1, "slow": (5, 30.0)}
    summed = triview.spark.moments(
        sliced(spark, path, cut(ROWS, 12), **slow), plan=plan, sizes=[ROWS, *[0] * 11]
    )
    assert sum(name.name.startswith("5-") for name in attempts.iterdir()) >= 2
    assert summed.rows == ROWS


# What cannot be answered


@pytest.mark.parametrize("planned", [False, True])
def test_the_partition_and_the_row_of_a_bad_value_are_named(spark, arrow, plan, tmp_path, planned):
    values = arrow.column("b:1").to_numpy().copy()
    begin, _ = cut(ROWS, 7)[4]
    values[begin + 41] = np.nan
    bad = arrow.set_column(arrow.column_names.index("b:1"), "b:1", pa.array(values))
    df = sliced(spark, written(bad, tmp_path / "bad.arrow"), cut(ROWS, 7))
    with pytest.raises(
        tv.TriviewError, match=r"^partition 4, row 42, column `b:1`: the score is NaN"
    ) as caught:
        triview.spark.estimate(df, plan=plan if planned else None)
    assert "\n" not in str(caught.value)


def test_a_column_that_some_files_lack_is_named(spark, arrow, tmp_path):
    from pyarrow import parquet

    parquet.write_table(arrow.slice(0, 2000), tmp_path / "a.parquet")
    parquet.write_table(arrow.slice(2000).drop_columns(["c:2"]), tmp_path / "b.parquet")
    df = spark.read.option("mergeSchema", "true").parquet(str(tmp_path))
    with pytest.raises(
        tv.TriviewError,
        match=r"partition \d+, row \d+, column `c:2`: the value is missing.*where a file lacks",
    ):
        triview.spark.estimate(df)


def test_classes_that_differ_are_named(spark, arrow, plan, tmp_path):
    lists = {view: pa.array([[0.1, 0.2, 0.3]] * 2999 + [[1.0, 2.0, 3.0, 4.0]]) for view in "abc"}
    rows = pa.table(lists | {"a": pa.array([[0.1, 0.2, 0.3]] * ROWS)})
    df = sliced(spark, written(rows, tmp_path / "lists.arrow"), [(0, 2000), (2000, ROWS)])
    message = r"partition 1, row 1000, column `b`: the list has 4 score\(s\) where there are 3 classes"
    with pytest.raises(tv.TriviewError, match=message):
        triview.spark.estimate(df)


def test_many_classes_are_refused_before_all_is_read(spark, attempts, tmp_path):
    wide = pa.table({f"{view}:{i}": [0.5] * 20 for view in "abc" for i in range(70)})
    each = [(at, at + 1) for at in range(20)]
    df = sliced(spark, written(wide, tmp_path / "wide.arrow"), each, attempts=str(attempts))
    with pytest.raises(
        tv.TriviewError, match="70 classes: third moments.*12 bytes a row and class.*triview.estimate"
    ):
        triview.spark.estimate(df)
    assert len(list(attempts.iterdir())) == 1


@pytest.mark.parametrize("option", ["label", "label_budget", "amplify", "period", "save_posterior"])
def test_what_one_machine_answers_is_refused_at_once(df, option):
    with pytest.raises(tv.TriviewError, match=f"`{option}` is not for rows on many machines: "):
        triview.spark.estimate(df, **{option: 1})


def test_options_are_checked(df, plan, spark):
    with pytest.raises(TypeError, match="lable"):
        triview.spark.estimate(df, lable=1)
    with pytest.raises(tv.TriviewError, match="`loss` is settled by `plan`"):
        triview.spark.estimate(df, plan=plan, loss="hinge")
    with pytest.raises(tv.TriviewError, match="there is no column `day`"):
        triview.spark.estimate(df, by="day")
    with pytest.raises(tv.TriviewError, match="no column's name"):
        triview.spark.estimate(df, cluster=[1, 2])
    with pytest.raises(tv.TriviewError, match="there are no rows"):
        triview.spark.estimate(df.where("false"))
    with pytest.raises(tv.TriviewError, match="settled by `fitted`"):
        triview.spark.label(
            df, fitted=tv.Moments.from_bytes(triview.spark.moments(df).to_bytes()), loss="log"
        )
    with pytest.raises(tv.TriviewError, match="`by` has 3000 values"):
        triview.spark.estimate(df.withColumn("row", F.monotonically_increasing_id()), by="row")


def test_rows_that_change_are_noticed(df, plan):
    with pytest.raises(tv.TriviewError, match=r"rows were counted and .* were summed.*persist\(\)"):
        triview.spark.moments(df, plan=plan, sizes=[ROWS - 1])


def test_another_version_is_refused(df, plan, spark):
    work = _parts.Summing(plan, version="0.0.1")
    with pytest.raises(tv.TriviewError, match=r"0\.0\.1 where they are asked about: ship the same wheel"):
        list(work.sums(0, []))
    former = plan.to_bytes().replace(b'"version": 6', b'"version": 5')
    with pytest.raises(tv.TriviewError, match="version"):
        triview.spark.moments(df, plan=tv.Plan.from_bytes(former))


def test_an_executor_without_the_package_is_told_how_to_get_it(tmp_path):
    # In a process of its own, as the executors' environment is settled when Spark starts.
    script = WITHOUT.format(tests=str(Path(__file__).parent), folder=str(tmp_path), hidden=hiding(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.startswith("the executors have no package triview: install the wheel"), done.stderr[
        -3000:
    ]


WITHOUT = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {tests!r})
import pyarrow as pa, triview as tv, triview.spark
from clusters import spark_session
spark = spark_session({folder!r}, "local-cluster[1,1,1024]", spark__executorEnv__PYTHONPATH={hidden!r})
rows = pa.table(tv.simulate(preset="three", rows=2000).table)
try:
    triview.spark.estimate(spark.createDataFrame(rows.to_pandas()), plan=tv.plan(rows))
except tv.TriviewError as error:
    print(error)
finally:
    spark.stop()
"""
