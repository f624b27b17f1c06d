"""What comes back: answers that show themselves, and say when not to be trusted."""

from __future__ import annotations

import copy
import json
import math
import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from triview import _core
from triview._core import TriviewError
from triview._frame import Frame, frame_of, optional

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from triview._core import Outcome, Records
    from triview._model import Model


class UntrustedWarning(UserWarning):
    """A diagnostic speaks against an answer."""


class UntrustedError(TriviewError):
    """A diagnostic speaks against an answer, and only one that is to be trusted was wanted (``strict=True``)."""

    def __init__(self, message: str, answer: Answer) -> None:
        super().__init__(message)
        #: What is not to be trusted.
        self.answer = answer


class Interval(NamedTuple):
    """Where a quantity lies, with a level of confidence."""

    low: float
    high: float
    level: float


def _levels_to_the_caller() -> int:
    """Count the frames up to the first that is not of this package, however its functions call each other."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, levels = frame.f_back, levels + 1
    return levels


def _number(value: float | None) -> float:
    """Take a number of the core's, for which unknown is null."""
    return math.nan if value is None else float(value)


class Answer:
    """An estimated risk: the value, its interval, and whether to trust it.

    What the command line prints as JSON is ``to_dict()``, and each of its keys ``answer["key"]``.
    """

    def __init__(self, outcome: Outcome) -> None:
        self._text = outcome.text
        self._data: dict[str, Any] = json.loads(outcome.json or "{}")
        self._page, self._card = outcome.page or "", outcome.card or ""
        #: Whether no diagnostic speaks against it.
        self.trusted: bool = outcome.trusted
        #: What was noted on the way: columns that were not used, and the like.
        self.notes: list[str] = outcome.notes

    def _checked(self, *, strict: bool) -> None:
        """Warn, or raise, where the answer is not to be trusted."""
        if self.trusted:
            return
        message = f"not to be trusted: {self._reasons()}"
        if strict:
            raise UntrustedError(message, self)
        warnings.warn(message, UntrustedWarning, stacklevel=_levels_to_the_caller())

    def _reasons(self) -> str:
        return "; ".join(self.alarms) or "no segment's answer is"

    @property
    def risk(self) -> float:
        """The risk: the mean loss over the population that the rows are from."""
        return _number(self._known("risk"))

    @property
    def standard_error(self) -> float:
        """The standard error of the risk; not a number where it is not known."""
        return _number(self._known("standard_error"))

    @property
    def interval(self) -> Interval:
        """Where the risk lies."""
        return self._interval("interval")

    @property
    def wider_interval(self) -> Interval | None:
        """Where the risk lies if the views have in common what these rows cannot show, where that can be told."""
        found = self._data.get("wider_interval")
        return Interval(float(found["low"]), float(found["high"]), self.interval.level) if found else None

    @property
    def error_rate(self) -> float | None:
        """How often the prediction is wrong, where that can be told; ``answer["error_rate_absent"]`` says why not."""
        value = self._data.get("error_rate")
        return None if value is None else float(value)

    @property
    def error_rate_interval(self) -> Interval | None:
        """Where the error rate lies."""
        return self._interval("error_rate_interval") if "error_rate_interval" in self._data else None

    @property
    def alarms(self) -> list[str]:
        """What speaks against the answer."""
        return list(self._diagnostics.get("alarms", []))

    @property
    def remedies(self) -> list[str]:
        """What to do about each of the alarms."""
        return [str(detail["remedy"]) for detail in self._diagnostics.get("alarm_details", [])]

    @property
    def p_value(self) -> float | None:
        """How likely rows like these are if the views are independent given the class; None where that cannot be tested."""
        value = self._diagnostics.get("independence", {}).get("p_value")
        return None if value is None else float(value)

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return list(self._known("classes"))

    @property
    def views(self) -> list[str]:
        """The names of the views, or of the annotators."""
        return list(self._known("views"))

    @property
    def class_prior(self) -> dict[str, float]:
        """How often each class occurs."""
        return dict(zip(self.classes, self._known("class_prior"), strict=True))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self._known("rows"))

    @property
    def segments(self) -> dict[str, dict[str, Any]]:
        """What each segment's rows say, by the name of the segment."""
        return {segment["segment"]: segment for segment in self._data.get("by", {}).get("segments", [])}

    @property
    def text(self) -> str:
        """What the command line prints."""
        return self._text

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page to look at: one HTML file, without script and without network, as ``--report`` of the command line does.

        The file is replaced as a whole or not at all. A notebook shows the first part of the page.
        """
        _core.write(path, self._page)

    def to_dict(self) -> dict[str, Any]:
        """Give all of it, as the command line's JSON has it."""
        return copy.deepcopy(self._data)

    def to_frame(self) -> Any:
        """Give one row a quantity (and a segment), with its interval: a frame of pandas, or of polars where that alone is installed."""
        rows = list(self._quantities(self._data, None))
        for name, segment in self.segments.items():
            rows.extend(self._quantities(segment, name))
        columns: dict[str, list[Any]] = {key: [row[key] for row in rows] for key in rows[0]} if rows else {}
        if not self.segments:
            columns.pop("segment", None)
        return frame_of(columns)

    def _quantities(self, data: dict[str, Any], segment: str | None) -> Iterator[dict[str, Any]]:
        def row(name: str, value: Any, error: Any, interval: Any) -> dict[str, Any]:
            low, high = (_number(interval.get(end)) if interval else math.nan for end in ("low", "high"))
            number, deviation = _number(value), _number(error)
            return {
                "segment": segment, "quantity": name, "value": number, "standard_error": deviation, "low": low, "high": high,
            }  # fmt: skip

        if "risk" in data:
            yield row("risk", data["risk"], data.get("standard_error"), data.get("interval"))
        metrics = data.get("metrics") or {}
        if "error_rate" in data:
            error = metrics.get("error_rate", {}).get("standard_error")
            yield row("error_rate", data["error_rate"], error, data.get("error_rate_interval"))
        for name, metric in metrics.items():
            if name != "error_rate" and isinstance(metric, dict) and "value" in metric:
                yield row(name, metric["value"], metric.get("standard_error"), metric.get("interval"))
        for name, value in (data.get("view_error") or {}).items():
            yield row(f"error_rate of {name}", value, None, None)

    def plot(self, ax: Any = None) -> Any:
        """Draw the quantities with their intervals, or the segments' risks where there are segments; needs matplotlib."""
        pyplot = optional("matplotlib.pyplot", purpose="plot()")
        bars = [(name, segment) for name, segment in self.segments.items() if "risk" in segment]
        if bars:
            lines = [next(self._quantities(segment, name)) | {"quantity": name} for name, segment in bars]
        else:
            lines = [line for line in self._quantities(self._data, None) if not math.isnan(line["low"])]
        if not lines:
            raise TriviewError(
                f"there is nothing to draw: this {type(self).__name__.lower()} has no interval"
            )
        axes = ax if ax is not None else pyplot.subplots(figsize=(6, 3), layout="constrained")[1]
        for at, line in enumerate(reversed(lines)):
            axes.plot([line["low"], line["high"]], [at, at], color="C0", linewidth=2, solid_capstyle="butt")
            axes.plot([line["value"]], [at], marker="o", color="C0")
        axes.set_yticks(range(len(lines)), [line["quantity"] for line in reversed(lines)])
        axes.set_xlabel("risk by segment" if bars else f"{round(100 * self.interval.level)}% interval")
        axes.set_title("" if self.trusted else "not to be trusted")
        return axes

    def __getitem__(self, key: str) -> Any:
        return copy.deepcopy(self._known(key))

    def _known(self, key: str) -> Any:
        try:
            return self._data[key]
        except KeyError:
            raise KeyError(f"no {key!r}; there are {', '.join(self._data)}") from None

    @property
    def _diagnostics(self) -> dict[str, Any]:
        return dict(self._data.get("diagnostics", self._data))

    def _interval(self, key: str) -> Interval:
        found = self._known(key)
        level = found["level"] if "level" in found else self._data["level"]
        return Interval(_number(found["low"]), _number(found["high"]), float(level))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        low, high, _ = self.interval
        doubt = "" if self.trusted else ", not to be trusted"
        return f"<{type(self).__name__}: risk {self.risk:.4g} ({low:.4g} to {high:.4g}){doubt}>"

    def _repr_html_(self) -> str:
        return self._card


class Diagnosis(Answer):
    """Whether the views are independent given the class, and how hard the problem is."""

    @property
    def dependences(self) -> list[dict[str, Any]]:
        """Which views depend on each other, within which class and how strongly."""
        return list(self._data["independence"]["dependences"])

    def __repr__(self) -> str:
        return f"<Diagnosis: p = {self.p_value}{'' if self.trusted else ', not to be trusted'}>"

    def to_frame(self) -> Any:
        """Give one row a pair of views."""
        pairs = [{**pair, "views": " and ".join(pair["views"])} for pair in self.dependences]
        keys = list(dict.fromkeys(key for pair in pairs for key in pair))
        return frame_of({key: [pair.get(key) for pair in pairs] for key in keys})


class Comparison(Answer):
    """The estimate beside what others say without labels."""

    @property
    def risk(self) -> float:
        """The risk by triview."""
        return _number(self._data["estimates"]["triview"]["risk"])

    @property
    def estimates(self) -> dict[str, dict[str, Any]]:
        """What each method says."""
        return dict(self._data["estimates"])

    @property
    def truth(self) -> dict[str, Any] | None:
        """What the labels say, where there are some."""
        return self._data.get("truth")

    def to_frame(self) -> Any:
        """Give one row a method."""
        lines = self.estimates
        if self.truth is not None:
            lines = {"truth": self.truth, **lines}
        columns: dict[str, list[Any]] = {"method": list(lines)}
        for key in ("risk", "error_rate", "absent", "reference"):
            columns[key] = [line.get(key) for line in lines.values()]
        return frame_of(columns)

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(self.estimates)}>"


class Votes(Answer):
    """A crowd's annotators, and how often the labels that they give together are wrong."""

    _labels: Frame | None = None
    _review: Frame | None = None
    _annotators: Frame | None = None

    def labels(self) -> Frame:
        """Give the label, the posterior, the agreement and the difficulty of each item."""
        return _there(self._labels, "labels")

    def annotators(self) -> Frame:
        """Give what is known of each annotator: votes, error, confusion matrix, what a vote is worth."""
        return _there(self._annotators, "annotators")

    def review(self) -> Frame:
        """Give the items to look at first, those whose label is likeliest to be wrong."""
        return _there(self._review, "review")

    @property
    def bound(self) -> str | None:
        """``"at least"`` where the error rate is only a floor, because votes cannot show what everybody gets wrong together."""
        return self._data.get("bound")

    @property
    def floor(self) -> float | None:
        """What the annotators' mean error is at least, whatever they have in common."""
        value = self._data.get("floor")
        return None if value is None else float(value)


def _there(frame: Frame | None, what: str) -> Frame:
    if frame is None:
        raise TriviewError(f"there are no {what}")
    return frame


class Sequences(Answer):
    """The risk of a sequence model."""

    _labels: Frame | None = None

    @property
    def classes(self) -> list[str]:
        """The names of the states."""
        return list(self._known("states"))

    @property
    def class_prior(self) -> dict[str, float]:
        """How often each state occurs."""
        return dict(zip(self.classes, self._known("state_prior"), strict=True))

    @property
    def rows(self) -> int:
        """The number of tokens."""
        return int(self._known("tokens"))

    @property
    def views(self) -> list[str]:
        """The tokens before, at and after each place are the views of a sequence, and have no names."""
        return []

    def labels(self) -> Frame:
        """Give the Viterbi state and the posterior of each token."""
        return _there(self._labels, "labels")

    @property
    def adapted_is_better(self) -> bool:
        """Whether the model that the data suggest can be told to be better than the given one."""
        return bool(self._data.get("adapted", {}).get("better", False))

    def _reasons(self) -> str:
        by_labels = self._data.get("labels", {}).get("alarms", [])
        reasons = by_labels if "without_labels" in self._data else self.alarms
        return (
            "; ".join(reasons)
            or "nothing says that the model that the data suggest is better than the given one"
        )


class Adaptation(Answer):
    """A model that was adapted without labels, and how it compares with the seed."""

    def __init__(self, outcome: Outcome, model: Model | None) -> None:
        super().__init__(outcome)
        #: The adapted model; None where nothing says that it is better than the seed (``force=True`` gives it all the same).
        self.model = model

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return list(self._of_model.classes)

    @property
    def views(self) -> list[str]:
        """The names of the views."""
        return list(self._of_model.views)

    @property
    def _of_model(self) -> Model:
        if self.model is None:
            raise TriviewError("there is no adapted model: nothing says that it is better than the seed")
        return self.model

    @property
    def verdict(self) -> str:
        """Whether the adapted model is better than the seed: ``improved``, ``likely``, ``failed``, ``doubtful``, or ``not judged``."""
        return str(self._data.get("verdict", "not judged"))

    def _reasons(self) -> str:
        return "; ".join(["nothing says that the adapted model is better than the seed", *self.alarms])

    def to_frame(self) -> Any:
        """Give the risk of the seed and of the adapted model."""
        # Without a judgement `seed` has no risk, and the answer none either.
        lines = {"seed": self._data.get("seed", {}), "adapted": self._data}
        keys = ("risk", "standard_error")
        return frame_of(
            {"model": list(lines)} | {key: [line.get(key) for line in lines.values()] for key in keys}
        )

    def __repr__(self) -> str:
        return f"<Adaptation: {self.verdict}{'' if self.trusted else ', not to be trusted'}>"


class Labels(Frame):
    """Surrogate labels and posteriors of rows, and whether to trust them."""

    def __init__(self, records: Records | str, answer: Answer) -> None:
        super().__init__(records)
        #: The estimate that the labels come from.
        self.answer = answer

    @property
    def trusted(self) -> bool:
        """Whether no diagnostic speaks against the labels."""
        return self.answer.trusted


class Simulation:
    """Data whose truth is known."""

    def __init__(self, table: Frame, truth: dict[str, Any], transition: str | None) -> None:
        #: The rows, with their labels.
        self.table = table
        #: What the labels say: the risk, its standard error, the error rate, the class prior.
        self.truth = truth
        #: The model's transitions, as the text of a file, of sequences.
        self.transition = transition

    def __repr__(self) -> str:
        return f"<Simulation: {len(self.table)} rows, risk {self.truth.get('risk')}>"
