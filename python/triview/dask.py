"""Risk of rows that lie in Dask: it reads, schedules and retries; one small sum a partition comes back.

    import triview.dask

    answer = triview.dask.estimate(dask.dataframe.read_parquet("scores/"))     # or a Bag, or delayed tables or files

The partitions are read three times: they are counted, a sample is drawn, by which what is summed is planned, and all rows are summed.
Where they are expensive to make, ``persist()`` them before; ``plan`` and ``sizes`` save the first two. What is asked runs on the client,
or the scheduler, that Dask has been told to use.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

try:
    import dask
except ImportError as error:
    raise ImportError("triview.dask needs dask: pip install 'triview[dask]'") from error

from triview._core import TriviewError, __version__
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
    check_version,
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
from triview._rows import ROW_BITS, WHERE, Rows
from triview._tables import counted, tables_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triview._answers import Answer, Diagnosis, Votes
    from triview._calls import Group, Latent
    from triview._progress import Listener

__all__ = ["diagnose", "estimate", "label", "moments", "votes"]

#: A DataFrame or a Bag of Dask's, or a list: delayed tables, or paths of Parquet files.
Held: TypeAlias = Any
_REMEDY = "persist() them, and ask for that"


def estimate(
    data: Held,
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
    """Estimate the risk from unlabelled scores in Dask.

    Parameters
    ----------
    data
        A DataFrame, a Bag (of dicts, one a row, or of tables), or a list of delayed tables or of paths of Parquet files; columns are
        ``view:class``, or one of lists a view.
    metrics
        Also the Brier score, calibration error and the like, from the sample.
    by
        Also answer for each value of a column.
    plan
        What is summed, by :func:`triview.plan`; otherwise it is planned by a sample. Without one, what takes rows (the error rate) is not
        known.
    sizes
        How many rows each partition has, where that is known; otherwise, and with ``by``, they are counted.
    columns, views, classes, features, input, group, loss, feature_map, latent, level, seed, strict
        As of :func:`triview.estimate`.
    cluster
        A column: rows with the same value depend on each other. They go to the same block of sums wherever they lie, without a shuffle.
    threads, progress
        Of this process, which solves; a partition is summed by one thread.
    """
    asked = question(
        others, plan, columns=columns, input=input, features=features, cluster=cluster, seed=seed, views=views, classes=classes,
        group=group, loss=loss, feature_map=feature_map, latent=latent,
    )  # fmt: skip
    return _Rows(data, asked, by).estimated(
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
    data: Held,
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
    """Sum the rows, to keep the sums: those of other days, of the same plan, add up with them.

    ``starting_at`` is how many rows stand before these, such as those of the days before: rows are dealt to blocks by their place in the
    whole. The other options are those of :func:`estimate`.
    """
    asked = question(
        others, plan, columns=columns, input=input, features=features, cluster=cluster, seed=seed, views=views, classes=classes,
        group=group, loss=loss, feature_map=feature_map, latent=latent,
    )  # fmt: skip
    start = counted(starting_at, "starting_at")
    return _Rows(data, asked, None).summed(plan, sizes, start, seed, threads)


def diagnose(
    data: Held,
    *,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    strict: bool = False,
    **options: Any,
) -> Diagnosis:
    """Test whether the views are independent given the class. ``options`` are those of :func:`moments`."""
    summed = moments(data, seed=seed, threads=threads, **options)
    return summed.diagnose(level=level, seed=seed, threads=threads, strict=strict)


def label(
    data: Held,
    *,
    fitted: Moments | None = None,
    keep: Sequence[str] | None = None,
    columns: str | None = None,
    input: str | None = None,
    features: Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    **options: Any,
) -> Any:
    """Give surrogate labels and class posteriors of every row, as a DataFrame of Dask's that is computed when it is asked for.

    ``fitted`` is what the labels come from, moments of these rows or of others of the same kind; otherwise the rows are summed first, at
    once. ``keep`` names the columns that go with the rows (otherwise all that are no scores); the other options are those of
    :func:`moments`.
    """
    from dask.dataframe import from_delayed

    if fitted is None:
        fitted = moments(
            data, columns=columns, input=input, features=features, seed=seed, threads=threads, **options
        )
    elif options:
        raise TriviewError(f"`{next(iter(options))}` is settled by `fitted`")
    asked = question({}, None, columns=columns, input=input, features=features, cluster=None, seed=seed)
    rows = _Rows(data, asked, None)
    kept = tuple(kept_columns(keep, rows.every, rows.names))
    work = dask.delayed(Labelling(fitted.to_bytes(), asked.reading, kept, seed), traverse=False)
    names = [*kept, *label_names(fitted.plan)]
    meta = _frame(rows.head.select(kept), names)
    return from_delayed(
        [dask.delayed(_labelled)(work, at, part, names) for at, part in enumerate(rows.parts)],
        meta=meta,
        verify_meta=False,
    )


def votes(data: Held, *, most_memory: int = 4 << 30, **options: Any) -> Votes:
    """Estimate a crowd from votes, which are collected.

    What is collected is compact (numbers in place of names), but grows with the votes: what it will take is said first, as a record of
    the logger ``triview``, and more than ``most_memory`` bytes are refused. ``options`` are those of :func:`triview.votes`.
    """
    _check_workers()
    parts = _parts(data)
    heads = dask.compute(*(dask.delayed(_counted_votes)(part, options.get("item")) for part in parts))
    # Items that lie in several partitions are counted in each: what is said is then too much.
    total = {name: sum(head[name] for head in heads) for name in ("votes", "items", "letters")}
    what = {**total, "length": total["letters"] / max(1, total["items"])}
    said = said_first(what, max(head["columns"] for head in heads), most_memory)
    found = dask.compute(*(dask.delayed(_packed)(part) for part in parts))
    return crowd(found, said, options)


class _Rows(Rows):
    """The rows that are summed."""

    def __init__(self, data: Held, asked: Question, by: str | None) -> None:
        super().__init__(asked, by)
        _check_workers()
        self.parts = _parts(data)
        heads = (dask.compute(dask.delayed(_head)(part))[0] for part in self.parts)
        head = next((head for head in heads if head is not None and head.num_rows), None)
        if head is None:
            raise TriviewError("there are no rows")
        #: A first row, and the columns: all, and those that are read.
        self.head = head
        self.every: list[str] = head.column_names
        if by is not None and by not in self.every:
            raise TriviewError(f"there is no column `{by}`: there are {', '.join(self.every)}")
        self.names = [name for name in columns_read(head, asked) if name != by]
        if hasattr(data, "npartitions") and hasattr(data, "columns"):
            # Other columns are not even read from files.
            wanted = [name for name in data.columns if str(name) in [*self.names, by]]
            self.parts_read = _parts(data[wanted])
        else:
            self.parts_read = self.parts

    def sizes(self, given: Sequence[int] | None) -> tuple[dict[int, Counts], list[str]]:
        """Count the rows of each partition, and of each segment in it, whose names come in the order of their first rows."""
        if given is not None and self._by is None:
            return given_sizes(given), []
        found = dask.compute(*(dask.delayed(_size)(part, self._by) for part in self.parts_read))
        order = dict.fromkeys(name for counts in found for name in counts if name is not None)
        return {at: counts for at, counts in enumerate(found) if counts[None]}, list(order)

    def sample(self, rows: int, seed: int) -> pa.Table:
        """Draw rows evenly."""
        share = min(1.0, SAMPLED / rows)
        columns = [*self.names, *([] if self._by is None else [self._by])]
        drawn = dask.compute(
            *(
                dask.delayed(_drawn)(part, at, columns, by=self._by, draw=(share, seed))
                for at, part in enumerate(self.parts_read)
            )
        )
        return pa.concat_tables([part for part in drawn if part is not None], promote_options="permissive")

    def sums(self, plan: Plan, sizes: Mapping[int, Counts], start: int = 0) -> dict[str | None, Moments]:
        """Sum each partition where it is, and add the sums up by a tree."""
        work = dask.delayed(Summing(plan, self._by, places(sizes, start)), traverse=False)
        nodes = [dask.delayed(_sums)(work, at, part) for at, part in enumerate(self.parts_read)]
        while len(nodes) > 1:
            nodes = [dask.delayed(_met)(nodes[at : at + FAN]) for at in range(0, len(nodes), FAN)]
        (states,) = dask.compute(*nodes)
        return all_sums(states, rows_of(sizes), _REMEDY)


def _parts(data: Held) -> list[Any]:
    """Give the partitions, delayed."""
    if hasattr(data, "to_delayed"):
        parts = data.to_delayed()
        return list(parts) if isinstance(parts, list | tuple | np.ndarray) else [parts]
    if isinstance(data, list | tuple) and data:
        return list(data)
    raise TriviewError(
        f"a {type(data).__name__} is nothing of Dask's: give a DataFrame, a Bag, or a list of delayed tables or of paths of Parquet files"
    )


# What runs where the rows are


def _arrow(part: Any, by: str | None = None) -> pa.Table | None:
    """Take a partition as a table; None where it has no rows."""
    if isinstance(part, str | os.PathLike):
        from pyarrow import parquet

        table = parquet.ParquetFile(part).read()
    elif isinstance(part, list | tuple) and all(isinstance(row, dict) for row in part):
        table = pa.Table.from_pylist(list(part))
    else:
        tables = part if isinstance(part, list | tuple) else [part]
        found = [pa.table(held) for one in tables for held in tables_of(one) if not isinstance(held, str)]
        table = pa.concat_tables(found) if found else pa.table({})
    if not table.num_rows:
        return None
    if by is not None:
        if by not in table.column_names:
            raise TriviewError(f"there is no column `{by}`")
        values = table.column(by)
        if pa.types.is_floating(values.type):
            # Where the core, and Spark, write 1.0, Arrow's C++ writes 1.
            values = pa.array([None if value is None else repr(value) for value in values.to_pylist()])
        table = table.set_column(table.column_names.index(by), by, pc.cast(values, pa.string()))
    return table


def _head(part: Any) -> pa.Table | None:
    table = _arrow(part)
    return None if table is None else table.slice(0, 1)


def _size(part: Any, by: str | None) -> Counts:
    table = _arrow(part, by)
    if table is None:
        return {None: 0}
    counts: Counts = {None: table.num_rows}
    if by is not None:
        for value in pc.value_counts(table.column(by)).to_pylist():
            name = segment_name(value["values"])
            counts[name] = counts.get(name, 0) + value["counts"]
    return counts


def _drawn(
    part: Any, at: int, columns: list[str], *, by: str | None, draw: tuple[float, int]
) -> pa.Table | None:
    table, (share, seed) = _arrow(part, by), draw
    if table is None:
        return None
    chosen = np.flatnonzero(np.random.default_rng([seed, at]).random(table.num_rows) < share)
    for name in columns:
        if name not in table.column_names:
            raise TriviewError(
                f"partition {at} has no column `{name}`, which others have; it has {', '.join(table.column_names)}"
            )
    where = pa.array((at << ROW_BITS) + chosen)
    return table.select(columns).take(pa.array(chosen)).append_column(WHERE, where)


def _sums(work: Summing, at: int, part: Any) -> list[State]:
    table = _arrow(part, work.by)
    return [] if table is None else list(work.sums(at, table.to_batches()))


def _met(states: list[list[State]]) -> list[State]:
    return merged(state for part in states for state in part)


def _labelled(work: Labelling, at: int, part: Any, names: list[str]) -> Any:
    table = _arrow(part)
    made = [] if table is None else list(work.labels(at, table.to_batches()))
    return _frame(pa.Table.from_batches(made) if made else pa.table({}), names)


def _frame(table: pa.Table, names: list[str]) -> Any:
    """Give a frame of pandas with these columns, whether there are rows or not."""
    frame = table.slice(0, table.num_rows).to_pandas()
    return frame.reindex(columns=names) if list(frame.columns) != names else frame


def _counted_votes(part: Any, item: str | None) -> dict[str, float]:
    table = _arrow(part)
    if table is None:
        return {"votes": 0, "items": 0, "letters": 0, "columns": 0}
    names = pc.unique(pc.cast(table.column(item_column(table.column_names, item)), pa.string()))
    letters = pc.sum(pc.binary_length(names)).as_py() or 0
    return {"votes": table.num_rows, "items": len(names), "letters": letters, "columns": table.num_columns}


def _packed(part: Any) -> bytes:
    table = _arrow(part)
    return packed(pa.table({}) if table is None else table)


def _check_workers() -> None:
    """Refuse workers without the package, which would end, one after the other, on what they cannot read, while the client waits."""
    try:
        from distributed.client import default_client

        client = default_client()
    except (ImportError, ValueError):
        return  # threads or processes of this machine

    # Sent by value, as a function of this module could not be read there.
    def version() -> str | None:
        try:
            import triview
        except ModuleNotFoundError:
            return None
        return triview.__version__

    for found in client.run(version).values():
        if found is None:
            raise TriviewError(
                "the workers have no package triview: install the wheel where they run, or ship it by "
                "client.register_plugin(distributed.PipInstall(['triview-....whl']))"
            )
        check_version(__version__, found)
