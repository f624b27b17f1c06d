"""How wrong a model is on data that has no labels.

When the evidence for a prediction comes in three views that are independent given the class (three sensors, three annotators, three
disjoint groups of features), the way the views agree reveals the risk itself, without a label:

    >>> import triview as tv
    >>> scores = tv.simulate(preset="three", rows=20_000).table        # three views of three classes, whose true risk is known
    >>> answer = tv.estimate(scores)
    >>> answer.trusted
    True
    >>> answer.interval.low < answer.risk < answer.interval.high
    True

Tables may be pandas, polars or pyarrow frames, NumPy arrays, or files; see :func:`estimate`.
"""

from triview._answers import (
    Adaptation,
    Answer,
    Comparison,
    Diagnosis,
    Interval,
    Labels,
    Sequences,
    Simulation,
    UntrustedError,
    UntrustedWarning,
    Votes,
)
from triview._calls import (
    adapt,
    compare,
    diagnose,
    estimate,
    label,
    score,
    sequences,
    simulate,
    train,
    votes,
)
from triview._core import TriviewError, __version__
from triview._frame import Frame
from triview._model import Model
from triview._moments import Accumulator, Moments, Plan, plan
from triview._monitor import Monitor, Watched

__all__ = [
    "Accumulator",
    "Adaptation",
    "Answer",
    "Comparison",
    "Diagnosis",
    "Frame",
    "Interval",
    "Labels",
    "Model",
    "Moments",
    "Monitor",
    "Plan",
    "Sequences",
    "Simulation",
    "TriviewError",
    "UntrustedError",
    "UntrustedWarning",
    "Votes",
    "Watched",
    "__version__",
    "adapt",
    "compare",
    "diagnose",
    "estimate",
    "label",
    "plan",
    "score",
    "sequences",
    "simulate",
    "train",
    "votes",
]
