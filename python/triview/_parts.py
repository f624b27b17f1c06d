"""What is the same on every engine: the question, what one partition does for it, how sums meet, and the answer."""

from __future__ import annotations

import functools
import hashlib
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from triview import _core
from triview._answers import Answer
from triview._calls import given
from triview._core import Records, TriviewError, __version__
from triview._moments import Moments, Plan
from triview._progress import listening
from triview._tables import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from triview._progress import Listener

#: How many sums meet at a node of the tree.
FAN = 16
#: Rows that a plan is made from, and that metrics of the whole prediction are measured on: as many as one machine takes (2**15, of
#: which more would be thinned out) less four standard deviations of the number that is drawn.
SAMPLED = 32_000
#: Rows that are handed to the core at a time: by 10,000, which is Spark's batch, the same takes a sixth longer.
_ROWS = 1 << 16
#: What the segment of rows without a value is called, as on one machine.
_MISSING = "(missing)"
#: The most segments, and the most memory of their sums, in a partition and where they are solved.
_MOST_SEGMENTS = 5000
_MOST_OF_SEGMENTS = 512 << 20

#: Sums of a partition or of several: the segment (None for all rows), the rows, and the bytes of their moments.
State: TypeAlias = tuple[str | None, int, bytes]
#: How many rows, of all (None) and of each segment.
Counts: TypeAlias = dict[str | None, int]

#: What only one machine answers, and what to do instead.
_ELSEWHERE = {
    "label": "collect a sample of the rows, some of them with labels, and give it to triview.estimate",
    "label_budget": "collect a sample of the rows, some of them with labels, and give it to triview.estimate",
    "label_weight": "collect a sample of the rows, some of them with labels, and give it to triview.estimate",
    "label_rows": "collect a sample of the rows and give it to triview.estimate",
    "stratify": "collect a sample of the rows and give it to triview.estimate",
    "amplify": "collect a sample of the rows and give it to triview.estimate",
    "witness": "collect a sample of the rows and give it to triview.estimate",
    "save_posterior": "keep what triview.plan makes of a sample, and give it as `plan`",
    "period": "make a column of the period, such as by date_trunc, and name it as `by`",
    "svg": "save the moments, and draw them by `triview diagnose`",
}


@dataclass(frozen=True)
class Question:
    """How rows are read, and what is to be estimated of them."""

    reading: list[tuple[str, Any]]
    method: list[tuple[str, Any]]

    @property
    def takes_rows(self) -> bool:
        """Whether the loss is of the whole prediction, which takes rows and not only moments."""
        return any(option in (("loss", "error"), ("loss", "brier")) for option in self.method)

    def planned(self, sample: pa.Table, threads: int | None) -> Plan:
        """Plan by a sample."""
        made = _core.plan([records(sample, "the sample")], [*self.reading, *self.method], threads=threads)
        return Plan(made, self.reading)


def question(
    others: Mapping[str, Any],
    plan: Plan | None,
    *,
    columns: str | None,
    input: str | None,
    features: Sequence[str] | None,
    cluster: str | None,
    seed: int,
    **method: Any,
) -> Question:
    """Check the options; what only one machine can answer is refused at once, with what to do instead."""
    for name in others:
        if name not in _ELSEWHERE:
            raise TypeError(f"there is no option `{name}`")
        raise TriviewError(f"`{name}` is not for rows on many machines: {_ELSEWHERE[name]}")
    if cluster is not None and not isinstance(cluster, str):
        raise TriviewError("`cluster` is no column's name: rows on many machines are told apart by a column")
    reading = given(columns=columns, input=input, features=features, cluster=cluster)
    if plan is None:
        return Question(reading, given(**method, seed=seed))
    for name, _ in [*reading, *given(**method)]:
        raise TriviewError(f"`{name}` is settled by `plan`: give it to triview.plan")
    return Question(plan._reading, given(seed=seed))


def columns_read(head: pa.Table, asked: Question) -> list[str]:
    """Give the columns that are read, by a first row; more classes than moments are formed for are refused."""
    if not head.num_rows:
        raise TriviewError("there are no rows")
    try:
        _, _, unread = _core.schema([records(head, "the first row")], [*asked.reading, *asked.method])
    except TriviewError as error:
        if "third moments" not in str(error):
            raise
        raise TriviewError(
            f"{str(error).splitlines()[0]}, which have to be in the memory of one machine, 12 bytes a row and class: draw as many as fit, collect them, and "
            "give them to triview.estimate"
        ) from None
    return [name for name in head.column_names if name not in unread]


def check_segments(count: int, plan: Plan, sample: pa.Table) -> None:
    """Refuse more segments than there is room for their sums."""
    size = len(plan.accumulator().update(sample).finish().to_bytes())
    most = max(1, min(_MOST_SEGMENTS, _MOST_OF_SEGMENTS // size))
    if count > most:
        raise TriviewError(
            f"`by` has {count} values, and the sums of each take {size / 2**20:.1f} MiB: at most {most} are answered at once; make "
            "fewer of them, or filter the rows and ask for each part"
        )


@dataclass(frozen=True)
class Summing:
    """What the rows of a partition are summed by; travels to where they are."""

    plan: Plan
    #: The column of the segments, which are texts.
    by: str | None = None
    #: How many rows stand before each partition.
    before: Mapping[int, Counts] = field(default_factory=dict)
    version: str = __version__

    def sums(self, partition: int, batches: Iterable[pa.RecordBatch]) -> Iterator[State]:
        """Sum the rows of a partition, and those of each segment; of no rows there are none."""
        check_version(self.version)
        before = self.before.get(partition)
        accumulators: dict[str | None, Any] = {}
        rows = 0
        for table in _runs(batches):
            parts: list[tuple[str | None, pa.Table]] = [(None, table)]
            if self.by is not None:
                parts += _split(table, self.by)
            for segment, part in parts:
                if segment not in accumulators:
                    # A partition that was not counted begins anywhere: they must not all fill the same blocks.
                    start = _anywhere(partition) if before is None else before.get(segment, 0)
                    accumulators[segment] = self.plan.accumulator(starting_at=start, threads=1)
                # What is wrong with a row is found among all rows, whose places are known, before it is in its segment.
                with located(partition, rows):
                    accumulators[segment]._add([records(part, f"partition {partition}")])
            rows += table.num_rows
        for segment, accumulator in accumulators.items():
            moments = accumulator.finish()
            yield segment, moments.rows, moments.to_bytes()


@dataclass(frozen=True)
class Labelling:
    """What the rows of a partition are labelled by."""

    moments: bytes
    reading: list[tuple[str, Any]]
    keep: tuple[str, ...]
    seed: int
    version: str = __version__

    def labels(self, partition: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give the columns that go with the rows, and their labels, batch by batch."""
        check_version(self.version)
        labeller = _labeller(self.moments, self.seed)
        rows = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            table = records(pa.Table.from_batches([batch]), f"partition {partition}")
            with located(partition, rows):
                made = pa.table(labeller.label([table], self.reading, threads=1))
            rows += batch.num_rows
            labels = [column.combine_chunks() for column in made.columns]
            kept = [batch.column(name) for name in self.keep]
            yield pa.RecordBatch.from_arrays([*kept, *labels], names=[*self.keep, *made.column_names])


@functools.lru_cache(maxsize=2)
def _labeller(moments: bytes, seed: int) -> _core.Labeller:
    """Solve once a process, which labels one partition after the other."""
    return _core.Moments.from_bytes(moments).labeller(seed=seed, threads=1)


def kept_columns(named: Sequence[str] | None, every: Sequence[str], scores: Sequence[str]) -> list[str]:
    """Give the columns that go with the rows: those that are named, or all that are no scores."""
    if named is None:
        return [name for name in every if name not in scores]
    for name in named:
        if name not in every:
            raise TriviewError(f"there is no column `{name}` to keep: there are {', '.join(every)}")
    return [name for name in every if name in named]


def label_names(plan: Plan) -> list[str]:
    """Name the columns of labels."""
    sources = [*(f"surrogate.{view}" for view in plan.views), "posterior"]
    return [f"{source}:{name}" for source in sources for name in plan.classes]


def check_version(version: str, found: str = __version__) -> None:
    """Refuse another version of the package than asks."""
    if version != found:
        raise TriviewError(
            f"triview {found} is installed where the rows are, and {version} where they are asked about: ship the same wheel "
            "to all"
        )


@contextmanager
def located(partition: int, before: int) -> Iterator[None]:
    """Name the row of a partition in what is raised, so many rows having come before."""
    try:
        yield
    except TriviewError as error:
        place = rf"^`partition {partition}`, row (\d+)"
        said = re.sub(place, lambda found: f"partition {partition}, row {before + int(found[1])}", str(error))
        raise TriviewError(said if said != str(error) else f"partition {partition}: {error}") from None


def merged(states: Iterable[State]) -> list[State]:
    """Add up sums, segment by segment, in their order; each is let go once it is added."""
    sums: dict[str | None, Moments] = {}
    for segment, _, state in states:
        moments = Moments.from_bytes(state)
        sums[segment] = sums[segment] + moments if segment in sums else moments
    return [(segment, moments.rows, moments.to_bytes()) for segment, moments in sums.items()]


def places(sizes: Mapping[int, Counts], start: int = 0) -> dict[int, Counts]:
    """Give how many rows stand before each partition, from how many each has and how many stand before the first."""
    total: Counts = {None: start}
    before: dict[int, Counts] = {}
    for partition in sorted(sizes):
        before[partition] = {segment: total.get(segment, 0) for segment in sizes[partition]}
        for segment, rows in sizes[partition].items():
            total[segment] = total.get(segment, 0) + rows
    return before


def given_sizes(sizes: Sequence[int]) -> dict[int, Counts]:
    """Take the sizes of partitions that somebody has counted."""
    return {at: {None: counted(rows, "sizes")} for at, rows in enumerate(sizes)}


def rows_of(sizes: Mapping[int, Counts]) -> int:
    """Count all rows."""
    return sum(counts.get(None, 0) for counts in sizes.values())


def all_sums(states: Iterable[State], expected: int, remedy: str) -> dict[str | None, Moments]:
    """Take the sums of all partitions, which must be of as many rows as were counted."""
    sums = {segment: Moments.from_bytes(state) for segment, _, state in states}
    rows = sums[None].rows if sums else 0
    if rows != expected:
        raise TriviewError(
            f"{expected} rows were counted and {rows} were summed: the rows are not the same whenever they are read; {remedy}"
        )
    return sums


def answered(
    sums: Mapping[str | None, Moments],
    asked: Question,
    sample: pa.Table | None,
    *,
    by: str | None = None,
    order: Sequence[str] = (),
    metrics: bool,
    level: float,
    seed: int,
    threads: int | None,
    progress: bool | Listener | None,
    strict: bool,
) -> Answer:
    """Solve sums, and with a sample of the rows also what takes rows."""
    whole = sums[None]
    if sample is None:
        return whole.solve(level=level, seed=seed, threads=threads, progress=progress, strict=strict)
    segments = None if by is None else (by, [(name, sums[name]._core) for name in order])
    options = [*asked.reading, *asked.method, *given(level=level)]
    with listening(progress) as listener:
        outcome = whole._core.solve_with(
            [records(sample, "the sample")], options, by=segments, metrics=metrics, threads=threads,
            progress=listener,
        )  # fmt: skip
    answer = Answer(outcome)
    answer.notes.append(
        f"the moments are of all {whole.rows} rows, the error rate and other metrics of a sample of {sample.num_rows}"
    )
    answer._checked(strict=strict)
    return answer


def records(table: pa.Table, name: str) -> Records:
    """Give rows under the name that messages call them by."""
    return Records.of_stream(name, table)


def segment_name(value: str | None) -> str:
    """Name the segment of a value."""
    return _MISSING if value is None or not value.strip() else value


def _split(table: pa.Table, by: str) -> Iterator[tuple[str, pa.Table]]:
    """Cut rows into their segments."""
    values = table.column(by)
    for value in pc.unique(values).to_pylist():
        of_value = pc.is_null(values) if value is None else pc.equal(values, value)
        yield segment_name(value), table.filter(of_value)


def _runs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join small batches."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= _ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _anywhere(partition: int) -> int:
    return int.from_bytes(hashlib.blake2b(str(partition).encode(), digest_size=4).digest())
