"""The risk over time: a store of periods, which tables are added to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from triview._answers import Answer, _number
from triview._calls import _ask, given
from triview._core import TriviewError
from triview._frame import frame_of
from triview._tables import names_of, tables_of, with_riders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triview._calls import Group, Latent, Path_
    from triview._core import Outcome
    from triview._progress import Listener
    from triview._tables import Table


class Watched(Answer):
    """What a store says: each period's risk, whether the model has become worse, and which limits are passed.

    ``risk``, ``error_rate`` and the like are those of the last complete period, which limits are about.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        # What the core says of the whole is about limits too, which say nothing about trust.
        self.trusted = bool(self._known("trusted"))

    @property
    def periods(self) -> list[dict[str, Any]]:
        """One dict a period, in the order of time; ``to_frame()`` has the same in a frame."""
        return list(self["periods"])

    @property
    def current(self) -> str:
        """The last complete period."""
        return str(self._known("current"))

    @property
    def worse(self) -> bool:
        """Whether the model has become worse: false in at most 5% of all series in which nothing changes, over all time."""
        return bool(self._known("worse")["alarm"])

    @property
    def factor(self) -> float:
        """By what factor the data favour that it has; the alarm is at 20."""
        return _number(self._known("worse")["factor"])

    @property
    def since(self) -> str | None:
        """The period in which it has about begun; None where no alarm was raised."""
        found = self._known("worse")["begun_about"]
        return None if found is None else str(found)

    @property
    def inputs_changed(self) -> bool:
        """Whether the rows are other ones than those of the baseline, whatever that does to the risk."""
        return bool(self._known("inputs")["changed"])

    @property
    def limits(self) -> list[str]:
        """A sentence for each limit that is passed, or that cannot be judged."""
        return list(self._known("limits"))

    @property
    def quiet(self) -> bool:
        """Whether no limit is passed, and the last complete period is to be trusted."""
        return bool(self._known("quiet"))

    @property
    def rows(self) -> int:
        """The number of rows of the last complete period."""
        return int(self._current["rows"])

    @property
    def views(self) -> list[str]:
        """The three groups of views."""
        return list(self._known("groups"))

    @property
    def class_prior(self) -> dict[str, float]:
        """How often each class occurs in the last complete period."""
        return dict(zip(self.classes, self._current["class_prior"], strict=True))

    @property
    def segments(self) -> dict[str, dict[str, Any]]:
        """What each segment's periods say, by the name of the segment."""
        return {curve["segment"]: curve for curve in self._data.get("by", {}).get("segments", [])}

    @property
    def each(self) -> dict[str, dict[str, Any]]:
        """What each view's periods say as a model of its own, by the name of the view."""
        return {curve["view"]: curve for curve in self._data.get("each", [])}

    @property
    def alarms(self) -> list[str]:
        """What speaks against the last complete period."""
        against = self._current.get("against")
        return [] if against is None else [str(against)]

    def to_frame(self) -> Any:
        """Give one row a period (and a segment, and a view by itself): a frame of pandas, or of polars where that alone is installed."""
        curves: list[tuple[str | None, str | None, dict[str, Any]]] = [(None, None, self._data)]
        curves += [(segment, None, curve) for segment, curve in self.segments.items()]
        curves += [(None, view, curve) for view, curve in self.each.items()]
        lines = [
            _line(segment, view, period) for segment, view, curve in curves for period in curve["periods"]
        ]
        columns = {key: [line[key] for line in lines] for key in lines[0]}
        for key, found in (("segment", self.segments), ("view", self.each)):
            if not found:
                columns.pop(key)
        return frame_of(columns)

    @property
    def _current(self) -> dict[str, Any]:
        found = (period for period in self._data["periods"] if period["period"] == self._data["current"])
        return dict(next(found))

    def _known(self, key: str) -> Any:
        # What other answers say of all rows, this one says of a period.
        if key in ("risk", "standard_error", "interval"):
            measured = self._current["risk"] or {}
            nothing = {"low": None, "high": None} if key == "interval" else None
            return measured.get("value" if key == "risk" else key, nothing)
        return super()._known(key)

    @property
    def error_rate(self) -> float | None:
        """How often the prediction is wrong in the last complete period, where that can be told."""
        measured = self._current["error_rate"]
        return None if measured is None else float(measured["value"])

    def __repr__(self) -> str:
        worse = f"worse since {self.since}" if self.worse else "not seen to be worse"
        passed = f", {len(self.limits)} of the limits" if self.limits else ""
        doubt = "" if self.trusted else ", not to be trusted"
        return f"<Watched: {len(self._data['periods'])} periods, {worse}{passed}{doubt}>"


def _line(segment: str | None, view: str | None, period: dict[str, Any]) -> dict[str, Any]:
    """Give one period as a row of a frame."""
    line: dict[str, Any] = {"segment": segment, "view": view}
    for key in ("period", "complete", "rows", "labels"):
        line[key] = period[key]
    for key in ("risk", "error_rate"):
        measured = period[key] or {}
        interval = measured.get("interval") or {}
        line[key] = _number(measured.get("value"))
        line[f"{key}_low"], line[f"{key}_high"] = _number(interval.get("low")), _number(interval.get("high"))
    line["worse"] = _number(period["worse"])
    for key in ("inputs_changed", "trusted"):
        line[key] = period[key]
    line["against"] = period.get("against")
    return line


class Monitor:
    """A store of periods, in one file: tables are added to it, and it says whether the model has become worse.

    Parameters
    ----------
    store
        The file, made by the first table that is added.
    time, period
        The column of times, or of numbers, that says which period a row is in; ``"hour"``, ``"day"``, ``"week"``, ``"month"``, or so
        many units of a number. Needed with the first table, and remembered by the store as ``by``, ``label``, ``columns``, ``input``
        and ``cluster`` are.
    by
        Also watch each value of this column by itself.
    each
        Also watch every view as a model of its own.
    label
        The column of the classes that are known, empty elsewhere.
    like
        Begin with the plan and the columns of another store, so that the two can be merged.
    columns, views, classes, features, input, witness, cluster, model, group, loss, feature_map, latent, level, seed, threads, progress
        As of :func:`estimate`.
    """

    def __init__(
        self,
        store: Path_,
        *,
        time: str | None = None,
        period: str | float | None = None,
        by: str | None = None,
        each: bool = False,
        label: str | None = None,
        like: Path_ | None = None,
        columns: str | None = None,
        views: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        features: Sequence[str] | None = None,
        input: str | None = None,
        witness: str | Sequence[str] | None = None,
        cluster: str | None = None,
        model: str | Sequence[str] | None = None,
        group: Group | None = None,
        loss: str | None = None,
        feature_map: str | None = None,
        latent: Latent | None = None,
        level: float = 0.95,
        seed: int = 0,
        threads: int | None = None,
        progress: bool | Listener | None = None,
    ) -> None:
        self._store = os.fspath(store)
        self._columns = {"time": time, "by": by, "label": label, "cluster": cluster}
        for name, column in self._columns.items():
            if column is not None and not isinstance(column, str):
                raise TriviewError(
                    f"`{name}` is an array, and a store is for other rows too: name a column of theirs, or give it to add()"
                )
        self._probability = input == "probability"
        self._options = given(
            period=period, each=each or None, columns=columns, views=views, classes=classes, features=features, input=input, witness=witness, model=model, group=group,
            loss=loss, feature_map=feature_map, latent=latent, level=level, seed=seed,
        )  # fmt: skip
        self._like = given(like=like)
        self._threads, self._progress = threads, progress

    @property
    def store(self) -> str:
        """The path of the store."""
        return self._store

    def add(
        self,
        data: Any,
        *,
        time: Any = None,
        by: Any = None,
        label: Any = None,
        cluster: Any = None,
        into: str | None = None,
    ) -> list[str]:
        """Put the rows of tables into their periods, each table whole or not at all; one that is known already changes nothing.

        ``data`` is as of :func:`estimate`; of an array, or a dict of arrays, ``time`` has one value a row, and so may ``by``,
        ``label`` and ``cluster``. ``into`` is the period that a file of moments is of. Says what was added.
        """
        tables, columns = self._read(data, time=time, by=by, label=label, cluster=cluster)
        added = [("add", table) for table in tables]
        return self._ask([*self._like, *columns, *given(into=into), *added]).notes

    def add_labels(self, data: Any, *, time: Any = None, by: Any = None, label: Any = None) -> list[str]:
        """Add rows that were added before and whose class is known now, drawn at random: they correct their periods.

        ``data`` and the others are as of :meth:`add`; ``label`` is the column of the classes. Says what was added.
        """
        tables, columns = self._read(data, time=time, by=by, label=label)
        return self._ask([*columns, *(("labels", table) for table in tables)]).notes

    def show(
        self,
        *,
        baseline: str | None = None,
        limit: str | Sequence[str] | None = None,
        strict: bool = False,
        report: Path_ | None = None,
        svg: Path_ | None = None,
        csv: Path_ | None = None,
        prometheus: Path_ | None = None,
        save_plan: Path_ | None = None,
    ) -> Watched:
        """Answer each period, and hold it against what is normal.

        Parameters
        ----------
        baseline
            What is normal, such as ``"2026-W01..2026-W08"``; otherwise the first quarter of the periods.
        limit
            What is not to be passed in the last complete period: ``"error_rate>0.05"``, ``"risk>baseline+3se"``, ``"rows<1000"``,
            ``"worse"``, of a view by itself ``"image:error_rate>0.05"``, or a list of such. ``.limits`` says which are passed, ``.quiet`` whether none is.
        strict
            Whether a last complete period that is not to be trusted is an :class:`UntrustedError` instead of an
            :class:`UntrustedWarning`.
        report, svg
            Files to write a page to look at to, and its first picture by itself.
        csv, prometheus
            Files to write the table of periods to, and the last complete period for Prometheus' textfile collector.
        save_plan
            A file to write the plan of the moments to, for ``triview moments --posterior``.
        """
        options = given(
            baseline=baseline, report=report, svg=svg, csv=csv, prometheus=prometheus, save_plan=save_plan
        )
        limits = names_of(limit)
        asked = [*given(**self._columns), *options, *([("limit", limits)] if limits else [])]
        watched = Watched(self._ask(asked))
        watched._checked(strict=strict)
        return watched

    def merge(self, *stores: Monitor | Path_) -> list[str]:
        """Add what other stores hold, which were begun ``like`` this one. Says what was added."""
        paths = [other.store if isinstance(other, Monitor) else os.fspath(other) for other in stores]
        return self._ask([("merge", paths)]).notes if paths else []

    def export(self, path: Path_) -> None:
        """Write a copy of the store to a new file."""
        self._ask(given(export=path))

    def keep_last(self, periods: int) -> list[str]:
        """Let go of the moments and rows of all but the last so many periods; their answers stay. Says what was let go of."""
        return self._ask(given(keep_last=periods)).notes

    def _read(self, data: Any, **arrays: Any) -> tuple[list[Table], list[tuple[str, Any]]]:
        said = {name: value for name, value in arrays.items() if value is not None}
        tables, columns = with_riders(
            tables_of(data, probability=self._probability), {**self._columns, **said}
        )
        return tables, given(**columns)

    def _ask(self, options: list[tuple[str, Any]]) -> Outcome:
        asked = [*self._options, *options]
        return _ask("monitor", [self._store], asked, threads=self._threads, progress=self._progress)

    def __repr__(self) -> str:
        return f"Monitor({self._store!r})"
