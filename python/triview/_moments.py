"""Parts that add up: plans, accumulators and moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triview import _core
from triview._answers import Answer, Diagnosis
from triview._calls import given
from triview._core import TriviewError
from triview._progress import listening
from triview._tables import counted, tables_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from triview._progress import Listener
    from triview._tables import Table


def plan(
    sample: Any,
    *,
    columns: str | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    input: str | None = None,
    witness: str | Sequence[str] | None = None,
    cluster: str | None = None,
    model: str | Sequence[str] | None = None,
    group: str | Sequence[Sequence[str]] | None = None,
    loss: str | None = None,
    feature_map: str | None = None,
    latent: int | str | Mapping[Any, int] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
) -> Plan:
    """Plan what is summed over all rows, from a sample of them.

    Some ten thousand rows, drawn at random, are enough. Every part of the rows is then summed by the same plan, anywhere, and the
    sums of all parts add up to those of the whole. The options are those of :func:`estimate`.
    """
    if cluster is not None and not isinstance(cluster, str):
        raise TriviewError(
            "`cluster` is an array, and a plan is for other rows too: name a column of theirs instead"
        )
    reading = given(columns=columns, input=input, features=features, witness=witness, cluster=cluster)
    method = given(
        views=views,
        classes=classes,
        model=model,
        group=group,
        loss=loss,
        feature_map=feature_map,
        latent=latent,
        seed=seed,
    )
    tables = tables_of(sample, probability=input == "probability")
    with listening(progress) as listener:
        made = _core.plan(tables, [*reading, *method], threads=_threads(threads), progress=listener)
    return Plan(made, reading)


def _threads(threads: int | None) -> int | None:
    return None if threads is None else counted(threads, "threads", least=1)


class Plan:
    """What is summed over rows; small, and travels as bytes or by pickle."""

    def __init__(self, core: _core.Plan, reading: list[tuple[str, Any]] | None = None) -> None:
        self._core = core
        self._reading = reading or []

    @property
    def views(self) -> list[str]:
        """The names of the views."""
        return self._core.views

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return self._core.classes

    def accumulator(self, *, starting_at: int = 0, threads: int | None = None) -> Accumulator:
        """Begin to sum a part of the rows.

        ``starting_at`` is how many rows stand before the part: rows are dealt to blocks by their place in the whole, so that many
        small parts do not all fill the same blocks.
        """
        start = counted(starting_at, "starting_at")
        return Accumulator(self._core.accumulator(starting_at=start), self._reading, _threads(threads))

    def to_bytes(self) -> bytes:
        """Give the plan as bytes. How tables are read (``columns``, ``input``, ``features``, ``witness``, ``cluster``) is not among them, but is pickled."""
        return self._core.to_bytes()

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        columns: str | None = None,
        input: str | None = None,
        features: Sequence[str] | None = None,
        witness: str | Sequence[str] | None = None,
        cluster: str | None = None,
    ) -> Plan:
        """Read what `to_bytes` made, or a file that ``triview estimate --save-posterior`` wrote; say how tables are to be read."""
        return cls(
            _core.Plan.from_bytes(data),
            given(columns=columns, input=input, features=features, witness=witness, cluster=cluster),
        )

    def __reduce__(self) -> tuple[Any, tuple[bytes, list[tuple[str, Any]]]]:
        return _restored_plan, (self.to_bytes(), self._reading)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"<Plan: views {', '.join(self.views)}; {len(self.classes)} classes>"


def _restored_plan(data: bytes, reading: list[tuple[str, Any]]) -> Plan:
    return Plan(_core.Plan.from_bytes(data), reading)


class Accumulator:
    """Sums over the rows that it is given."""

    def __init__(self, core: _core.Accumulator, reading: list[tuple[str, Any]], threads: int | None) -> None:
        self._core = core
        self._reading = reading
        self._threads = threads

    def update(self, batch: Any) -> Accumulator:
        """Add rows: whatever :func:`estimate` takes. After an error the sums are of no use, and further calls say so."""
        self._add(tables_of(batch, probability=("input", "probability") in self._reading))
        return self

    def _add(self, tables: list[Table]) -> None:
        self._core.update(tables, self._reading, threads=self._threads)

    def finish(self) -> Moments:
        """Give the moments of all rows that were added."""
        return Moments(self._core.finish())


class Moments:
    """Sums of moments over rows: a few megabytes at the most, however many the rows.

    ``a + b`` and ``sum(parts)`` are those of all rows, in any order; ``solve()`` answers.
    """

    def __init__(self, core: _core.Moments) -> None:
        self._core = core

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._core.rows

    @property
    def plan(self) -> Plan:
        """What was summed."""
        return Plan(self._core.plan)

    def solve(
        self,
        *,
        level: float = 0.95,
        seed: int = 0,
        threads: int | None = None,
        progress: bool | Listener | None = None,
        strict: bool = False,
    ) -> Answer:
        """Estimate the risk of the rows that were summed. What takes rows, such as the error rate, is not known any more."""
        seed, threads = counted(seed, "seed"), _threads(threads)
        with listening(progress) as listener:
            answer = Answer(self._core.solve(level=level, seed=seed, threads=threads, progress=listener))
        answer._checked(strict=strict)
        return answer

    def diagnose(
        self, *, level: float = 0.95, seed: int = 0, threads: int | None = None, strict: bool = False
    ) -> Diagnosis:
        """Test whether the views are independent given the class, as :func:`diagnose` does."""
        seed = counted(seed, "seed")
        answer = Diagnosis(self._core.diagnose(level=level, seed=seed, threads=_threads(threads)))
        answer._checked(strict=strict)
        return answer

    def __add__(self, other: object) -> Moments:
        if isinstance(other, Moments):
            return Moments(self._core.merge(other._core))
        # What `sum` begins with.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    __radd__ = __add__

    def to_bytes(self) -> bytes:
        """Give the moments as bytes, those of a file that the command line reads."""
        return self._core.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """Read what `to_bytes` made."""
        return cls(_core.Moments.from_bytes(data))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the moments to a file, whole or not at all."""
        self._core.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Moments:
        """Read a file that `save`, or ``triview moments``, wrote."""
        return cls(_core.Moments.load(path))

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Moments.from_bytes, (self.to_bytes(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moments) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"<Moments of {self.rows} rows>"
