"""Risk of rows that lie in Spark (4 or later): Spark reads, schedules and retries; one small sum a partition comes back.

    import triview.spark

    answer = triview.spark.estimate(spark.read.parquet("scores/"))     # columns view:class, or one of lists or vectors a view

The DataFrame is read three times: its partitions are counted (of Parquet that takes no column), a sample is drawn, by which what is summed
is planned, and all rows are summed. Where it is expensive to make, ``persist()`` it before; ``plan`` and ``sizes`` save the first two.
Columns are read as on one machine; nothing but the sample and one sum is ever collected.
"""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

try:
    from pyspark import TaskContext
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)
except ImportError as error:
    raise ImportError("triview.spark needs pyspark 4: pip install 'triview[spark]'") from error

from triview._core import TriviewError
from triview._crowd import crowd, item_column, packed, said_first
from triview._moments import Moments, Plan
from triview._parts import (
    FAN,
    SAMPLED,
    Counts,
    Labelling,
    Question,
    State,
    Summing,
    all_sums,
    columns_read,
    given_sizes,
    kept_columns,
    label_names,
    merged,
    places,
    question,
    rows_of,
    segment_name,
)
from triview._rows import WHERE, Rows
from triview._tables import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from triview._answers import Answer, Diagnosis, Votes
    from triview._calls import Group, Latent
    from triview._progress import Listener

__all__ = ["diagnose", "estimate", "label", "moments", "votes"]

#: A sum as a row of Spark's. `place` is the partition, then the node of the tree.
_STATE = "place long, segment string, rows long, state binary"
_ARROW = pa.schema([("place", "int64"), ("segment", "string"), ("rows", "int64"), ("state", "binary")])
_REMEDY = "persist() or checkpoint() the DataFrame, and ask for that"


def estimate(
    df: DataFrame,
    *,
    metrics: bool = False,
    by: str | None = None,
    plan: Plan | None = None,
    sizes: Sequence[int] | None = None,
    columns: str | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    input: str | None = None,
    cluster: str | None = None,
    group: Group | None = None,
    loss: str | None = None,
    feature_map: str | None = None,
    latent: Latent | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
    **others: Any,
) -> Answer:
    """Estimate the risk from unlabelled scores in a DataFrame.

    Parameters
    ----------
    df
        Rows of scores: columns ``view:class``, or one column of lists, or of vectors (such as ``probability`` of Spark's own models), a
        view.
    metrics
        Also the Brier score, calibration error and the like, from the sample.
    by
        Also answer for each value of a column.
    plan
        What is summed, by :func:`triview.plan`; otherwise it is planned by a sample that Spark draws. Without one, what takes rows (the
        error rate) is not known.
    sizes
        How many rows each partition has, where that is known; otherwise, and with ``by``, they are counted.
    columns, views, classes, features, input, group, loss, feature_map, latent, level, seed, strict
        As of :func:`triview.estimate`.
    cluster
        A column: rows with the same value depend on each other. They go to the same block of sums wherever they lie, without a shuffle.
    threads, progress
        Of the driver, which solves; a partition is summed by one thread.
    """
    asked = question(
        others, plan, columns=columns, input=input, features=features, cluster=cluster, seed=seed, views=views, classes=classes,
        group=group, loss=loss, feature_map=feature_map, latent=latent,
    )  # fmt: skip
    return _Rows(df, asked, by).estimated(
        plan,
        sizes,
        metrics=metrics,
        level=level,
        seed=seed,
        threads=threads,
        progress=progress,
        strict=strict,
    )


def moments(
    df: DataFrame,
    *,
    plan: Plan | None = None,
    sizes: Sequence[int] | None = None,
    starting_at: int = 0,
    columns: str | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    input: str | None = None,
    cluster: str | None = None,
    group: Group | None = None,
    loss: str | None = None,
    feature_map: str | None = None,
    latent: Latent | None = None,
    seed: int = 0,
    threads: int | None = None,
    **others: Any,
) -> Moments:
    """Sum the rows of a DataFrame, to keep the sums: those of other days, of the same plan, add up with them.

    ``starting_at`` is how many rows stand before these, such as those of the days before: rows are dealt to blocks by their place in the
    whole. The other options are those of :func:`estimate`.
    """
    asked = question(
        others, plan, columns=columns, input=input, features=features, cluster=cluster, seed=seed, views=views, classes=classes,
        group=group, loss=loss, feature_map=feature_map, latent=latent,
    )  # fmt: skip
    start = counted(starting_at, "starting_at")
    return _Rows(df, asked, None).summed(plan, sizes, start, seed, threads)


def diagnose(
    df: DataFrame,
    *,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    strict: bool = False,
    **options: Any,
) -> Diagnosis:
    """Test whether the views are independent given the class. ``options`` are those of :func:`moments`."""
    summed = moments(df, seed=seed, threads=threads, **options)
    return summed.diagnose(level=level, seed=seed, threads=threads, strict=strict)


def label(
    df: DataFrame,
    *,
    fitted: Moments | None = None,
    keep: Sequence[str] | None = None,
    columns: str | None = None,
    input: str | None = None,
    features: Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    **options: Any,
) -> DataFrame:
    """Give surrogate labels and class posteriors of every row, as a DataFrame that is computed when it is asked for.

    Parameters
    ----------
    df
        Rows of scores, as of :func:`estimate`.
    fitted
        What the labels come from: moments of these rows, or of others of the same kind; otherwise the rows are summed first, at once.
    keep
        The columns that go with the rows; otherwise all that are no scores.
    columns, input, features, seed, threads, options
        As of :func:`moments`.
    """
    if fitted is None:
        fitted = moments(
            df, columns=columns, input=input, features=features, seed=seed, threads=threads, **options
        )
    elif options:
        raise TriviewError(f"`{next(iter(options))}` is settled by `fitted`")
    asked = question({}, None, columns=columns, input=input, features=features, cluster=None, seed=seed)
    rows = _Rows(df, asked, None)
    kept = kept_columns(keep, df.columns, rows.names)
    fields = [field for field in df.schema.fields if field.name in kept]
    work = Labelling(fitted.to_bytes(), asked.reading, tuple(field.name for field in fields), seed)

    def labelled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return work.labels(_partition(), batches)

    schema = df.select([_named(field.name) for field in fields]).schema
    for name in label_names(fitted.plan):
        schema = schema.add(name, "double")
    extra = [_named(field.name) for field in fields if field.name not in rows.names]
    return _mapped(df.select([*rows.selected, *extra]), labelled, schema)


def votes(df: DataFrame, *, most_memory: int = 4 << 30, **options: Any) -> Votes:
    """Estimate a crowd from a DataFrame of votes, which are collected.

    What is collected is compact (numbers in place of names), but grows with the votes: what it will take is said first, as a record of
    the logger ``triview``, and more than ``most_memory`` bytes are refused. ``options`` are those of :func:`triview.votes`.
    """
    item = item_column(df.columns, options.get("item"))
    names = _named(item).cast("string")
    count, items, length = F.count("*"), F.approx_count_distinct(names), F.avg(F.length(names))

    def gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(list(batches) or [pa.RecordBatch.from_pylist([])])
        yield _row(_partition(), (None, table.num_rows, packed(table)))

    with clearly():
        what = df.agg(count.alias("votes"), items.alias("items"), length.alias("length")).first().asDict()
        said = said_first({**what, "length": what["length"] or 0}, len(df.columns), most_memory)
        # Partitions come in their order.
        parts = [bytes(row.state) for row in _mapped(df, gathered, _STATE).where("rows > 0").collect()]
    return crowd(parts, said, options)


class _Rows(Rows):
    """The rows of a DataFrame that are summed."""

    def __init__(self, df: DataFrame, asked: Question, by: str | None) -> None:
        super().__init__(asked, by)
        if by is not None and by not in df.columns:
            raise TriviewError(f"there is no column `{by}`: there are {', '.join(df.columns)}")
        vectors = {field.name for field in df.schema.fields if field.dataType.simpleString() == "vector"}
        every = {name: _numbers(name, vector=name in vectors) for name in df.columns}
        #: The columns that are read.
        self.names = columns_read(_head(df.select(list(every.values()))), asked)
        self.selected = [every[name] for name in self.names]
        if by is not None:
            self.names = [name for name in self.names if name != by]
            self.selected = [every[name] for name in self.names] + [_named(by).cast("string").alias(by)]
        self._df = df

    def _said(self, message: str) -> str:
        return _explained(message)

    def sizes(self, given: Sequence[int] | None) -> tuple[dict[int, Counts], list[str]]:
        """Count the rows of each partition, and of each segment in it, whose names come in the order of their first rows."""
        if given is not None and self._by is None:
            return given_sizes(given), []
        keys = [F.spark_partition_id().alias("partition")]
        keys += [] if self._by is None else [_named(self._by).cast("string").alias("segment")]
        counting = self._df.select(*keys, F.monotonically_increasing_id().alias("row"))
        with clearly():
            found = counting.groupBy(*counting.columns[:-1]).agg(F.count("*"), F.min("row")).collect()
        sizes: dict[int, Counts] = {}
        first: dict[str, int] = {}
        for partition, *segment, rows, row in found:
            counts = sizes.setdefault(partition, {None: 0})
            counts[None] = (counts[None] or 0) + rows
            for name in map(segment_name, segment):
                counts[name] = counts.get(name, 0) + rows
                first[name] = min(first.get(name, row), row)
        if not sizes:
            raise TriviewError("the DataFrame has no rows")
        return sizes, sorted(first, key=lambda name: first[name])

    def sample(self, rows: int, seed: int) -> pa.Table:
        """Draw rows evenly."""
        drawn = self._df.select(*self.selected, F.monotonically_increasing_id().alias(WHERE))
        if rows > SAMPLED:
            drawn = drawn.sample(fraction=SAMPLED / rows, seed=seed)
        with clearly():
            return drawn.toArrow()

    def sums(self, plan: Plan, sizes: Mapping[int, Counts], start: int = 0) -> dict[str | None, Moments]:
        """Sum each partition where it is, add the sums up by a tree, and collect one of all rows, and one a segment."""
        work = Summing(plan, self._by, places(sizes, start))

        def summed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            partition = _partition()
            for state in work.sums(partition, batches):
                yield _row(partition, state)

        states = _mapped(self._df.select(self.selected), summed, _STATE)
        nodes = max(sizes) + 1
        segments = len({segment for counts in sizes.values() for segment in counts})
        while nodes > 1:
            nodes = -(-nodes // FAN)
            states = _level(states, nodes * segments)
        with clearly():
            found = [(row.segment, row.rows, bytes(row.state)) for row in states.collect()]
        # A partition that was not there when they were counted is a node of its own.
        return all_sums(merged(found), rows_of(sizes), _REMEDY)


def _level(states: DataFrame, nodes: int) -> DataFrame:
    """Add up the sums that meet at each node of a level of the tree, always in the same order."""
    nodes = max(1, nodes)
    meeting = states.withColumn("node", F.floor(F.col("place") / FAN))
    meeting = meeting.repartition(nodes, "node", "segment").sortWithinPartitions("node", "segment", "place")
    return _mapped(meeting, _met, _STATE)


def _met(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up what meets; rows come sorted by node and segment."""

    def key(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return row[:2]

    rows = (
        tuple(batch.column(name)[at].as_py() for name in ("node", "segment", "rows", "state"))
        for batch in batches
        for at in range(batch.num_rows)
    )
    for (node, _), group in itertools.groupby(rows, key):
        for state in merged(row[1:] for row in group):
            yield _row(node, state)


def _row(place: int, state: State) -> pa.RecordBatch:
    segment, rows, data = state
    return pa.RecordBatch.from_pylist(
        [{"place": place, "segment": segment, "rows": rows, "state": data}], schema=_ARROW
    )


def _partition() -> int:
    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _named(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def _head(df: DataFrame) -> pa.Table:
    """Take a first row, for which Spark looks at as few partitions as it can (not so for `toArrow`)."""
    with clearly():
        rows = [row.asDict() for row in df.take(1)]
    table = pa.Table.from_pylist(rows)
    for at, field in enumerate(df.schema.fields if rows else ()):
        if pa.types.is_null(table.schema.field(at).type):
            number = pa.list_(pa.float64()) if field.dataType.typeName() == "array" else pa.float64()
            table = table.set_column(at, field.name, pa.nulls(1, number))
    return table


def _numbers(name: str, *, vector: bool) -> Column:
    """Give a column as Arrow can carry it."""
    if not vector:
        return _named(name)
    from pyspark.ml.functions import vector_to_array

    return vector_to_array(_named(name)).alias(name)


def _mapped(df: DataFrame, work: Callable[..., Any], schema: Any) -> DataFrame:
    return df.mapInArrow(work, schema)


@contextmanager
def clearly() -> Iterator[None]:
    """Raise what went wrong on an executor as if it had been here, without Spark's account of how it came to be known."""
    try:
        yield
    except PySparkException as error:
        said = str(error)
        if found := re.search(r"TriviewError: (.+)", said):
            raise TriviewError(_explained(found[1].strip())) from None
        if re.search(r"No module named '?triview", said):
            raise TriviewError(
                "the executors have no package triview: install the wheel where they run, or ship it, renamed triview.zip, by "
                "spark.archives=triview.zip#triview-wheel and spark.executorEnv.PYTHONPATH=triview-wheel"
            ) from None
        raise


def _explained(said: str) -> str:
    """Say what Spark makes of a column that only some files have."""
    if "the value is missing" in said:
        return f"{said}; where a file lacks a column that others have, Spark reads it as missing: mend or leave out that file"
    return said
