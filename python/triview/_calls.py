"""The questions: every verb of the command line, its options under the same names."""

from __future__ import annotations

import functools
import json
import operator
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triview import _core
from triview._answers import Adaptation, Answer, Comparison, Diagnosis, Labels, Sequences, Simulation, Votes
from triview._core import Records, TriviewError
from triview._frame import Frame
from triview._model import Model
from triview._progress import listening
from triview._tables import (
    column_tables,
    counted,
    distinct,
    feature_tables,
    names_of,
    numbers_of,
    tables_of,
    text_of,
    with_riders,
    with_witnesses,
)

if TYPE_CHECKING:
    from triview._core import Outcome
    from triview._moments import Moments
    from triview._progress import Listener
    from triview._tables import Table

Path_: TypeAlias = str | os.PathLike[str]
#: How views are grouped: ``"a+b,c,d"`` or ``[["a", "b"], ["c"], ["d"]]``.
Group: TypeAlias = str | Sequence[str | Sequence[str]]
#: How many latent states: in all, of each class, or as few as the test accepts (``"auto"``).
Latent: TypeAlias = int | str | Mapping[Any, int]
#: Columns without scores: their names, or arrays by name.
Witness: TypeAlias = str | Sequence[str] | Mapping[str, Any] | None


#: The options that have no value.
_FLAGS = frozenset(
    {"metrics", "each", "verbose", "by_position", "adapt", "no_judgement", "force", "crowd", "hmm"}
)
#: The options that have several; of others the last would count.
_LISTS = frozenset({"views", "classes", "features", "witness", "keep", "cuts"})


#: What the file of a model is called that was given as an object.
_SEED = "the-given-model.safetensors"


def given(**options: Any) -> list[tuple[str, Any]]:
    """Options as the core takes them; those that are None are not given."""
    return [(name, _value(name, value)) for name, value in options.items() if value is not None]


def _value(name: str, value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if name in _FLAGS:
        raise TypeError(f"`{name}` is {value!r}: True or False is needed")
    # Of simulations, views and classes are counted.
    if name in _LISTS and not isinstance(value, int | np.integer):
        return names_of(value)
    if isinstance(value, str | Records):
        return value
    # That of features is a file, that of scores some views.
    if name == "model" and not isinstance(value, os.PathLike):
        return names_of(value)
    return _one(name, value)


def _one(name: str, value: Any) -> str:
    """Write one value as it can be typed."""
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if name == "group":
        return ",".join(part if isinstance(part, str) else "+".join(part) for part in value)
    if isinstance(value, Mapping):
        return ",".join(f"{key}={number}" for key, number in value.items())
    if isinstance(value, int | float | np.number):
        return repr(value.item() if isinstance(value, np.number) else value)
    raise TriviewError(f"`{name}` is a {type(value).__name__}: one value is needed")


def _ask(
    verb: str,
    tables: list[Table],
    options: list[tuple[str, Any]],
    *,
    threads: int | None,
    progress: bool | Listener | None,
) -> Outcome:
    threads = None if threads is None else counted(threads, "threads", least=1)
    with listening(progress) as listener:
        try:
            return _core.call(verb, tables, options, threads=threads, progress=listener)
        except TriviewError as error:
            # A model that was given, and not its file, is called that.
            said = str(error)
            for name, value in options:
                if name == "model" and isinstance(value, str) and Path(value).name == _SEED:
                    said = said.replace(f"model `{value}`", "the model").replace(f"`{value}`", "the model")
            if said == str(error):
                raise
            raise TriviewError(said) from None


def estimate(
    data: Any,
    *,
    metrics: bool = False,
    each: bool = False,
    prediction: str | None = None,
    by: Any = None,
    period: str | float | None = None,
    verbose: bool = False,
    amplify: int | None = None,
    label: Any = None,
    label_weight: Any = None,
    label_budget: float | None = None,
    label_rows: bool | Path_ = False,
    stratify: bool = False,
    keep: Sequence[str] | None = None,
    save_posterior: Path_ | None = None,
    report: Path_ | None = None,
    svg: Path_ | None = None,
    columns: str | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    input: str | None = None,
    witness: Witness = None,
    cluster: Any = None,
    model: str | Sequence[str] | None = None,
    group: Group | None = None,
    loss: str | None = None,
    feature_map: str | None = None,
    latent: Latent | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
) -> Answer:
    """Estimate the risk from unlabelled scores.

    Parameters
    ----------
    data
        A table of scores, whose rows are never copied:

        - a frame of pandas, polars, pyarrow, DuckDB, or anything with ``__arrow_c_stream__``: columns ``view:class`` (in pandas also
          two levels of columns), or one column of lists a view;
        - an array of NumPy's with the axes (rows, views, classes);
        - a dict with one array (rows, classes) a view, or (rows,) with what the second of two classes has;
        - a path, or moments; a list or an iterator of any of these makes one data set.
    metrics
        Also the Brier score, hinge loss, calibration error, macro F1, AUC and confusion matrix.
    each
        Also judge every view as a model of its own, ``answer["each"]``, and compare any two of them, ``answer["differences"]``.
    prediction
        How the columns of another model's probabilities are named, one a class for which the star stands: ``"p:*"``. It may be no sum of views, such
        as an average of probabilities; its columns are never views. ``answer["prediction"]`` has its metrics.
    by, period
        Also answer for each value of a column (its name, or an array with one value a row); for each ``"hour"``, ``"day"``, ``"week"`` or
        ``"month"`` of its times, or for so many units of a number.
    verbose
        Whether ``print(answer)`` also shows how well the risk could be known: singular values, distances, the fit.
    amplify
        For scores with a few enormous values: also the risk that most of so many groups of rows agree on.
    label
        The class of a few rows drawn at random, a column's name or an array that lacks the others (None, NaN): one interval then
        holds whatever the views do, and a narrower one as far as a posterior is right that they recalibrate; ``answer["labels"]`` has both.
    label_weight
        The chance that each labelled row had to be drawn, where these were not all alike: a column's name or an array.
    label_budget
        Also say how many labels would bring the interval of the risk to this width.
    label_rows, stratify
        Which rows to label next: ``answer["label_rows"]`` where True, or a file to write them to. With ``stratify`` there are more of the rows that
        the posterior is unsure of, and a column ``inclusion`` of chances for ``label_weight``.
    keep
        The columns beside the scores that go with these rows; otherwise all.
    save_posterior
        A file to write the feature map of a second pass to.
    report, svg
        Files to write a page to look at to, and its first picture by itself; ``answer.report(path)`` writes the page too.
    columns
        How columns are named, such as ``"{view}_{class}"``; otherwise ``view:class``.
    views, classes
        The views to use, three or more, and the classes in the order of arrays and lists.
    features
        Columns ``view:feature`` that are no scores but tell latent states of a view apart.
    input
        ``"score"`` (additive log potentials) or ``"probability"`` (of which the logarithm is taken).
    witness
        Columns without scores that tell classes apart by how their values are distributed (a hospital, a shop, a week): their names, or
        arrays by name. Each is a view that identifies and is not judged; two views and one of them are enough.
    cluster
        Rows with the same value (a column's name, or an array) depend on each other.
    model
        The view, or views, that make the prediction which is judged; the others are witnesses, which only identify. Otherwise all
        views together make it.
    group
        How to group more than three views into three: ``[["a", "b"], ["c"], ["d"]]``.
    loss
        The loss whose mean is the risk: log (the default), hinge, zero-one, exponential, error or brier.
    feature_map
        What each view is identified by: auto, scores, softmax or posterior and the like.
    latent
        More latent states than classes: their number, ``{"cat": 2}``, or ``"auto"``.
    level
        The level of confidence of the intervals.
    seed, threads
        Same data and seed, same bits, for any number of threads.
    progress
        Whether to show a bar (of tqdm's; by default where somebody sees it and the work is long), or a callable that is told
        what is being done, how many rows are done and of how many.
    strict
        Whether an answer that is not to be trusted is an :class:`UntrustedError` instead of an :class:`UntrustedWarning`.
    """
    from triview._moments import Moments

    if isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__"):
        data = list(distinct(data))
    merged = _merged(data)
    if merged is not None:
        asked: dict[str, Any] = {
            "prediction": prediction, "by": by, "period": period, "columns": columns, "label": label, "label_weight": label_weight, "label_budget": label_budget, "amplify": amplify, "views": views, "classes": classes,
            "features": features, "input": input, "witness": witness, "cluster": cluster, "model": model, "group": group, "loss": loss, "feature_map": feature_map,
            "latent": latent, "save_posterior": save_posterior, "report": report, "svg": svg, "metrics": metrics or None, "each": each or None, "label_rows": label_rows or None,
            "stratify": stratify or None, "keep": keep,
        }  # fmt: skip
        for name, value in asked.items():
            if value is not None:
                raise TriviewError(
                    f"`{name}` is about rows, and moments have none: give the tables, or plan by it"
                )
        assert isinstance(merged, Moments)
        return merged.solve(level=level, seed=seed, threads=threads, progress=progress, strict=strict)
    tables, riders = with_riders(
        tables_of(data, probability=input == "probability", witness=witness),
        {"by": by, "label": label, "label_weight": label_weight, "cluster": cluster},
    )
    tables, names = with_witnesses(tables, witness)
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        rows = Path(folder, "rows.arrow") if label_rows is True else (label_rows or None)
        options = given(
            **riders, period=period, verbose=verbose, columns=columns, metrics=metrics, each=each, prediction=prediction, amplify=amplify, label_budget=label_budget, label_rows=rows, stratify=stratify, keep=keep,
            save_posterior=save_posterior, report=report, svg=svg, views=views, classes=classes, features=features, input=input, witness=names, model=model, group=group, loss=loss,
            feature_map=feature_map, latent=latent, level=level, seed=seed,
        )  # fmt: skip
        answer = Answer(_ask("estimate", tables, options, threads=threads, progress=progress))
        if isinstance(rows, Path) and rows.exists():
            answer._data["label_rows"] = Frame(_core.read_arrow(rows))
    answer._checked(strict=strict)
    return answer


def _merged(data: Any) -> Moments | None:
    """Moments, or the sum of a list of them."""
    from triview._moments import Moments

    if isinstance(data, Moments):
        return data
    if isinstance(data, list | tuple) and data and all(isinstance(part, Moments) for part in data):
        merged: Moments = functools.reduce(operator.add, data)
        return merged
    return None


def diagnose(
    data: Any,
    *,
    remedies: bool = False,
    report: Path_ | None = None,
    svg: Path_ | None = None,
    columns: str | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    input: str | None = None,
    witness: Witness = None,
    cluster: Any = None,
    model: str | Sequence[str] | None = None,
    group: Group | None = None,
    loss: str | None = None,
    feature_map: str | None = None,
    latent: Latent | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
) -> Diagnosis:
    """Test whether the views are independent given the class: which pair is not, within which class, how strongly.

    With ``remedies`` what may help is tried on all rows, ``answer["remedies"]``: other groups, a view fewer, more latent states, a column for a
    witness, and what labels would cost. ``svg`` is a file to draw the dependences to, ``report`` one for a page to look at; the other options are
    those of :func:`estimate`.
    """
    tables, riders = with_riders(
        tables_of(data, probability=input == "probability", witness=witness), {"cluster": cluster}
    )
    tables, names = with_witnesses(tables, witness)
    options = given(
        **riders, remedies=remedies, columns=columns, report=report, svg=svg, views=views, classes=classes, features=features, input=input, witness=names, model=model, group=group, loss=loss,
        feature_map=feature_map, latent=latent, level=level, seed=seed,
    )  # fmt: skip
    answer = Diagnosis(_ask("diagnose", tables, options, threads=threads, progress=progress))
    answer._checked(strict=strict)
    return answer


def compare(
    data: Any,
    *,
    label: Any = None,
    source: Any = None,
    source_label: str | None = None,
    report: Path_ | None = None,
    svg: Path_ | None = None,
    columns: str | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    input: str | None = None,
    witness: Witness = None,
    cluster: Any = None,
    model: str | Sequence[str] | None = None,
    group: Group | None = None,
    loss: str | None = None,
    feature_map: str | None = None,
    latent: Latent | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
) -> Comparison:
    """Set the estimate beside what others say without labels, and beside the truth where ``label`` tells it.

    ``source`` is a labelled table of the same model in the old domain, ``source_label`` its column of labels, ``svg`` a file to draw
    to, ``report`` one for a page to look at; the other options are those of :func:`estimate`.
    """
    probability = input == "probability"
    tables, riders = with_riders(
        tables_of(data, probability=probability, witness=witness), {"label": label, "cluster": cluster}
    )
    tables, names = with_witnesses(tables, witness)
    old = None if source is None else _one_table(source, "source", probability=probability)
    options = given(
        **riders, columns=columns, source=old, source_label=source_label, report=report, svg=svg, views=views, classes=classes, features=features,
        input=input, witness=names, model=model, group=group, loss=loss, feature_map=feature_map, latent=latent, level=level, seed=seed,
    )  # fmt: skip
    answer = Comparison(_ask("compare", tables, options, threads=threads, progress=progress))
    answer._checked(strict=strict)
    return answer


def _one_table(data: Any, option: str, *, probability: bool = False) -> Table:
    tables = tables_of(data, probability=probability)
    if len(tables) != 1:
        raise TriviewError(f"`{option}` is {len(tables)} tables: one is needed")
    return tables[0]


def label(
    data: Any,
    *,
    output: Path_ | None = None,
    keep: Sequence[str] | None = None,
    columns: str | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    input: str | None = None,
    witness: Witness = None,
    cluster: Any = None,
    model: str | Sequence[str] | None = None,
    group: Group | None = None,
    loss: str | None = None,
    feature_map: str | None = None,
    latent: Latent | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
) -> Labels:
    """Give surrogate labels and class posteriors of every row, to train any model on.

    For each view the columns ``surrogate.<view>:<class>``, what the other views say of the row's class, one-hot on average over the
    rows of a class; and ``posterior:<class>``. Rows keep their order, and their other columns (``keep``) go with them. With
    ``output`` they are written to that file, batch by batch, and not held. The other options are those of :func:`estimate`.
    """
    tables, riders = with_riders(
        tables_of(data, probability=input == "probability", witness=witness), {"cluster": cluster}
    )
    tables, names = with_witnesses(tables, witness)
    options = given(
        **riders, columns=columns, keep=keep, views=views, classes=classes, features=features, input=input, witness=names, model=model, group=group, loss=loss,
        feature_map=feature_map, latent=latent, level=level, seed=seed,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        path = Path(folder, "labels.arrow") if output is None else output
        outcome = _ask("label", tables, [*options, *given(output=path)], threads=threads, progress=progress)
        labels = Labels(_core.read_arrow(path) if output is None else os.fspath(output), Answer(outcome))
    labels.answer._checked(strict=strict)
    return labels


def votes(
    data: Any,
    *,
    label: Any = None,
    gold: Any = None,
    item: str | None = None,
    annotator: str | None = None,
    vote: str | None = None,
    cuts: Sequence[float] | None = None,
    smoothing: float | None = None,
    label_budget: float | None = None,
    keep: Sequence[str] | None = None,
    report: Path_ | None = None,
    svg: Path_ | None = None,
    views: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
) -> Votes:
    """Estimate a crowd: hard predictions, a crowd's labels, or what judges say.

    Parameters
    ----------
    data
        One row a vote (columns item, annotator, vote, under their usual names), or one row an item with a column for each annotator;
        a frame, a dict of columns, or a path.
    label
        The class of the items for which it is known, drawn at random: a column's name, or an array with one value a row.
    gold
        The same as a table of its own (item and label), or a dict from items to classes.
    item, annotator, vote
        The columns, where their names are not the usual ones.
    cuts
        Votes are numbers, and classes what lies between these.
    smoothing
        Votes for each class that are added to every annotator's.
    label_budget
        Also say how many items of known class would bring the interval of the error rate to this width.
    keep
        The columns that go with the items' labels; otherwise all.
    report, svg
        Files to write a page to look at to, and its first picture by itself.
    views
        The annotators to use.
    classes, level, seed, threads, progress, strict
        As of :func:`estimate`.

    Returns
    -------
    Votes
        Whose ``labels()``, ``annotators()`` and ``review()`` are tables.
    """
    tables, riders = with_riders(column_tables(data), {"label": label})
    known = None if gold is None else _gold(gold)
    common = given(
        **riders, votes=True, gold=known, item=item, annotator=annotator, vote=vote, cuts=cuts, smoothing=smoothing,
        views=views, classes=classes, level=level, seed=seed,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        paths = {name: Path(folder, f"{name}.arrow") for name in ("output", "annotators", "review")}
        outcome = _ask(
            "label", tables, [*common, *given(keep=keep, **paths)], threads=threads, progress=progress
        )
        labels, annotators, review = (Frame(_core.read_arrow(path)) for path in paths.values())
    asked = given(label_budget=label_budget, report=report, svg=svg)
    if asked:
        options = [*common, *asked]
        outcome = _ask("estimate", tables, options, threads=threads, progress=progress)
    answer = Votes(outcome)
    answer._labels, answer._annotators, answer._review = labels, annotators, review
    answer._checked(strict=strict)
    return answer


def _gold(gold: Any) -> Table:
    if isinstance(gold, Mapping):
        items, classes = [str(item) for item in gold], [text_of(known) for known in gold.values()]
        if not items:
            raise TriviewError("`gold` is empty: leave it out where no class is known")
        return Records.of_columns("the gold", [("item", items, False), ("label", classes, False)])
    return _one_table(gold, "gold")


def sequences(
    data: Any,
    *,
    transition: Any,
    initial: Any = None,
    states: Sequence[Any] | None = None,
    label: str | None = None,
    by_position: bool = False,
    labels: bool = False,
    adapt: bool = False,
    save_transition: Path_ | None = None,
    force: bool = False,
    report: Path_ | None = None,
    svg: Path_ | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
) -> Sequences:
    """Estimate the risk of a sequence model, a hidden Markov model or a linear CRF, from unlabelled sequences.

    Parameters
    ----------
    data
        One row a token: columns ``sequence``, ``position`` and ``emission:<state>``, log potentials; a frame, a dict of columns, or a
        path.
    transition
        The model's log potentials of transitions: a file, or an array, row the state before and column the state after.
    initial
        The log potentials of the first state, of an array.
    states
        The names of the states, of an array; otherwise 0, 1, 2 and so on.
    label
        A column with the true states of some whole sequences, drawn at random, and empty elsewhere: the risk and the token error then have
        intervals that hold whatever the chain does, which come first where the answer without labels is not to be trusted.
    by_position
        Identify the states at each position by itself, for sequences whose emissions or transitions change along the way.
    labels
        Also label every token: ``answer.labels()``.
    adapt
        Label with the model that the data suggest. Where that cannot be told to be better than the given one there are no labels, and the
        answer is not to be trusted.
    save_transition
        A file to write the transitions of the model that the data suggest to, where that can be told to be better.
    force
        Label, and write, with the model that the data suggest all the same.
    report, svg
        Files to write a page to look at to, and its first picture by itself.
    level, seed, threads, progress, strict
        As of :func:`estimate`.
    """
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        if isinstance(transition, str | os.PathLike):
            model: Path_ = transition
        else:
            model = Path(folder, "transition.csv")
            model.write_text(_transitions(transition, initial, states), encoding="utf-8")
        output = Path(folder, "labels.arrow") if labels or adapt else None
        options = given(
            transition=model, label=label, by_position=by_position, output=output, adapt=adapt, save_transition=save_transition, force=force,
            report=report, svg=svg, level=level, seed=seed,
        )  # fmt: skip
        answer = Sequences(_ask("hmm", column_tables(data), options, threads=threads, progress=progress))
        if output is not None and output.exists():
            answer._labels = Frame(_core.read_arrow(output))
    answer._checked(strict=strict)
    return answer


#: What the row of the first states is called in a file of transitions.
_INITIAL = "initial"


def _transitions(transition: Any, initial: Any, states: Sequence[Any] | None) -> str:
    """Write an array of transitions as the file that they are."""
    array = numbers_of(transition, "`transition`")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise TriviewError(
            f"`transition` has the shape {array.shape}: one row and one column a state are needed"
        )
    names = [str(state) for state in (states if states is not None else range(len(array)))]
    if len(names) != len(array):
        raise TriviewError(f"{len(names)} states are named and `transition` has {len(array)}")
    if len({*names, _INITIAL}) <= len(names):
        raise TriviewError(
            f"the states are {', '.join(names)}: their names must differ, and none may be `{_INITIAL}`"
        )
    rows: list[tuple[str, Any]] = list(zip(names, array, strict=True))
    if initial is not None:
        first = numbers_of(initial, "`initial`")
        if first.shape != (len(names),):
            raise TriviewError(
                f"`initial` has the shape {first.shape}: {len(names)} numbers are needed, one a state"
            )
        rows.append((_INITIAL, first))
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    lines = [",".join(["state", *quoted])]
    for name, row in rows:
        lines.append(
            ",".join(['"' + name.replace('"', '""') + '"', *(repr(float(number)) for number in row)])
        )
    return "\n".join(lines) + "\n"


def train(
    data: Any,
    *,
    label: Any,
    output: Path_ | None = None,
    views: Sequence[str] | None = None,
    method: str = "adagrad",
    step: float = 0.04,
    epochs: int = 10,
    minibatch: int = 20,
    penalty: float = 0.01,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
) -> Model:
    """Train a logistic model with labels, view by view.

    Parameters
    ----------
    data
        Features: a table with columns ``view:feature`` or one column of lists a view; or a dict with one array (rows, features) a
        view, sparse ones of SciPy's too.
    label
        The class of each row: a column's name, or an array. Rows without one are left out.
    output
        A file to write the model to.
    views
        The views to use; otherwise all.
    method
        ``"adagrad"`` (with ``step``, ``epochs`` and ``minibatch``) or ``"lbfgs"`` (with ``penalty``).
    step, epochs, minibatch, penalty
        Length of the first step, how often every row is seen, rows a step, penalty on half the squared parameters.
    seed, threads, progress
        As of :func:`estimate`.
    """
    tables, riders = with_riders(feature_tables(data), {"label": label})
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        path = output if output is not None else Path(folder, "model.safetensors")
        options = given(
            **riders, output=path, views=views, method=method, step=step, epochs=epochs, minibatch=minibatch, penalty=penalty,
            seed=seed,
        )  # fmt: skip
        _ask("train", tables, options, threads=threads, progress=progress)
        return Model.load(path)


def score(
    data: Any,
    *,
    model: Model | Path_,
    label: Any = None,
    keep: Sequence[str] | None = None,
    output: Path_ | None = None,
    threads: int | None = None,
    progress: bool | Listener | None = None,
) -> Frame:
    """Give what a model says of the rows of a feature table: a table of scores, which :func:`estimate` takes.

    ``data`` is as of :func:`train`, ``label`` the class of rows to carry along, ``keep`` the other columns that go with them
    (otherwise all), ``output`` a file to write the scores to, which are then
    not held.
    """
    tables, riders = with_riders(feature_tables(data), {"label": label})
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        path = Path(folder, "scores.arrow") if output is None else output
        options = given(**riders, model=_model_file(model, folder), keep=keep, output=path)
        _ask("score", tables, options, threads=threads, progress=progress)
        return Frame(_core.read_arrow(path) if output is None else os.fspath(output))


def adapt(
    data: Any,
    *,
    model: Model | Path_,
    output: Path_ | None = None,
    label: Any = None,
    source: Any = None,
    source_label: str | None = None,
    source_weight: float | None = None,
    loss: str = "log",
    radius: float | None = None,
    gap: float = 0.001,
    no_judgement: bool = False,
    force: bool = False,
    report: Path_ | None = None,
    svg: Path_ | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    strict: bool = False,
) -> Adaptation:
    """Adapt a model to rows without labels, and judge it against the seed.

    Parameters
    ----------
    data
        Features of the new domain, as of :func:`train`.
    model
        The seed: a :class:`Model`, or its file.
    output
        A file to write the adapted model to. It is ``.model`` of the answer too, if it was found to be better.
    label
        The class of the few rows of which it is known: a column's name, or an array.
    source, source_label, source_weight
        A labelled feature table of an old domain, its column of labels, and its share in what is minimised.
    loss
        The loss to minimise: log, hinge or exponential.
    radius, gap
        The radius of the ball of parameters, and how far above the smallest value in it the minimisation may stop.
    no_judgement
        Do not estimate the risk of the result; needs ``radius``.
    force
        Give the model even if nothing says that it is better than the seed.
    report, svg
        Files to write a page to look at to, and its first picture by itself.
    level, seed, threads, progress, strict
        As of :func:`estimate`.
    """
    tables, riders = with_riders(feature_tables(data), {"label": label})
    old = [] if source is None else [("source", table) for table in feature_tables(source)]
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        path = output if output is not None else Path(folder, "adapted.safetensors")
        options = given(
            **riders, model=_model_file(model, folder), output=path, source_label=source_label, source_weight=source_weight,
            loss=loss, radius=radius, gap=gap, no_judgement=no_judgement, force=force, report=report, svg=svg, level=level, seed=seed,
        )  # fmt: skip
        outcome = _ask("adapt", tables, [*options, *old], threads=threads, progress=progress)
        answer = Adaptation(outcome, Model.load(path) if outcome.trusted or force else None)
    answer._checked(strict=strict)
    return answer


def _model_file(model: Model | Path_, folder: str) -> Path_:
    if not isinstance(model, Model):
        return model
    path = Path(folder, _SEED)
    model.save(path)
    return path


def simulate(
    *,
    preset: str | None = None,
    rows: int = 20_000,
    views: int | None = None,
    classes: int | None = None,
    shared: float | None = None,
    subclasses: int | None = None,
    missing: float | None = None,
    loss: str | None = None,
    crowd: bool = False,
    annotators: int | None = None,
    votes: int | None = None,
    spammers: float | None = None,
    adversaries: float | None = None,
    hard: float | None = None,
    copiers: int | None = None,
    hmm: bool = False,
    sequences: int | None = None,
    shortest: int | None = None,
    longest: int | None = None,
    stay: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Simulation:
    """Make a table whose truth is known: scores, the votes of a crowd (``crowd``), or sequences (``hmm``).

    ``preset`` names the setting (two, three, six, ten and so on); the other options are those of ``triview simulate``.
    """
    with tempfile.TemporaryDirectory(prefix="triview-") as folder:
        table, truth, transition = (
            Path(folder, name) for name in ("table.arrow", "truth.json", "transition.csv")
        )
        options = given(
            preset=preset, rows=rows, views=views, classes=classes, shared=shared, subclasses=subclasses, missing=missing,
            loss=loss, crowd=crowd, annotators=annotators, votes=votes, spammers=spammers, adversaries=adversaries, hard=hard,
            copiers=copiers, hmm=hmm, sequences=sequences, shortest=shortest, longest=longest, stay=stay, output=table,
            truth=truth, transition=transition if hmm else None, seed=seed,
        )  # fmt: skip
        _ask("simulate", [], options, threads=threads, progress=False)
        text = transition.read_text(encoding="utf-8") if hmm else None
        return Simulation(Frame(_core.read_arrow(table)), json.loads(truth.read_text(encoding="utf-8")), text)
