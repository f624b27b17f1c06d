"""Rows on many machines, whoever holds them: counted, sampled, summed, and answered for."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from triview._core import TriviewError
from triview._parts import answered, check_segments, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from triview._answers import Answer
    from triview._moments import Moments, Plan
    from triview._parts import Counts, Question
    from triview._progress import Listener

#: The column of a sample that says where its rows are from, in Spark's way: the partition, and 33 bits for the row.
WHERE = "triview.where"
ROW_BITS = 33


class Rows(ABC):
    """Rows that an engine holds."""

    def __init__(self, asked: Question, by: str | None) -> None:
        self._asked, self._by = asked, by

    @abstractmethod
    def sizes(self, given: Sequence[int] | None) -> tuple[dict[int, Counts], list[str]]:
        """Count the rows of each partition, and of each segment in it; the segments' names come in the order of their first rows."""

    @abstractmethod
    def sample(self, rows: int, seed: int) -> pa.Table:
        """Draw some of so many rows evenly, with the column that says where they are from."""

    @abstractmethod
    def sums(self, plan: Plan, sizes: Mapping[int, Counts], start: int = 0) -> dict[str | None, Moments]:
        """Sum each partition where it is, so many rows coming before the first, and add the sums up by a tree."""

    def _said(self, message: str) -> str:
        """Explain an error further, where the engine has a share in it."""
        return message

    def planned(self, sample: pa.Table, threads: int | None) -> Plan:
        """Plan by a sample; a row that cannot be read is named by where it is from."""
        try:
            return self._asked.planned(sample.drop_columns([WHERE]), threads)
        except TriviewError as error:
            found = re.match(r"`the sample`, row (\d+)", str(error))
            if found is None:
                raise
            where = sample.column(WHERE)[int(found[1]) - 1].as_py()
            place = f"partition {where >> ROW_BITS}, row {where % (1 << ROW_BITS) + 1}"
            raise TriviewError(self._said(place + str(error)[found.end() :])) from None

    def summed(
        self, plan: Plan | None, sizes: Sequence[int] | None, start: int, seed: int, threads: int | None
    ) -> Moments:
        """Sum all rows."""
        counts, _ = self.sizes(sizes)
        if plan is None:
            plan = self.planned(self.sample(rows_of(counts), seed), threads)
        return self.sums(plan, counts, start)[None]

    def estimated(
        self,
        plan: Plan | None,
        sizes: Sequence[int] | None,
        *,
        metrics: bool,
        level: float,
        seed: int,
        threads: int | None,
        progress: bool | Listener | None,
        strict: bool,
    ) -> Answer:
        """Sum all rows, and solve; what takes rows is measured on a sample."""
        counts, order = self.sizes(sizes)
        sample = None
        if plan is None or metrics or self._by is not None or self._asked.takes_rows:
            sample = self.sample(rows_of(counts), seed)
            plan = plan or self.planned(sample, threads)
            sample = sample.drop_columns([WHERE])
            if self._by is not None:
                check_segments(len(order), plan, sample)
        assert plan is not None
        return answered(
            self.sums(plan, counts), self._asked, sample, by=self._by, order=order, metrics=metrics, level=level, seed=seed,
            threads=threads, progress=progress, strict=strict,
        )  # fmt: skip
