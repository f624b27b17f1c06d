"""Classifiers of views, model selection without labels and crowds, as scikit-learn (1.6 or later) has such things."""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

import triview
from triview._answers import UntrustedError
from triview._core import Records, TriviewError
from triview._model import Model
from triview._tables import texts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from triview._answers import Adaptation, Answer, Votes
    from triview._frame import Frame

#: The columns of one view: numbers or names, a slice of numbers, or a mask.
Columns: TypeAlias = slice | str | int | Sequence[str | int] | Any
#: The columns of each view, with or without the views' names.
Views: TypeAlias = Mapping[str, Columns] | Sequence[Columns]

__all__ = ["AdaptedClassifier", "CrowdAggregator", "RiskScorer", "ViewsClassifier"]


def _column_groups(views: Views | None, count: int, names: Sequence[str] | None) -> dict[str, list[int]]:
    """Give the places of each view's columns among so many, which may have names."""
    if views is None:
        # With fewer columns than three there is a classifier still, though no risk without labels.
        views = [part.tolist() for part in np.array_split(np.arange(count), min(3, count))]
    listed = (
        views
        if isinstance(views, Mapping)
        else {str(at): columns for at, columns in enumerate(views, start=1)}
    )
    if not listed:
        raise TriviewError("there are no views: give the columns of each of three")
    groups = {view: _places(view, columns, count, names) for view, columns in listed.items()}
    owners: dict[int, str] = {}
    for view, places in groups.items():
        for place in places:
            if place in owners:
                column = place if names is None else names[place]
                raise TriviewError(
                    f"column `{column}` is in view `{owners[place]}` and again in view `{view}`: views that share a column are not "
                    "independent given the class"
                )
            owners[place] = view
    return groups


def _places(view: str, columns: Columns, count: int, names: Sequence[str] | None) -> list[int]:
    if isinstance(columns, slice):
        places = list(range(count)[columns])
    elif (mask := np.asarray(columns)).dtype == bool:
        if mask.shape != (count,):
            raise TriviewError(
                f"the mask of view `{view}` has the shape {mask.shape}: one value for each of {count} columns is needed"
            )
        places = np.flatnonzero(mask).tolist()
    else:
        listed = [columns] if isinstance(columns, str | int | np.integer) else columns
        places = [_place(view, column, count, names) for column in listed]
    if not places:
        raise TriviewError(f"view `{view}` has none of the {count} columns")
    return places


def _place(view: str, column: Any, count: int, names: Sequence[str] | None) -> int:
    if isinstance(column, str):
        if names is None:
            raise TriviewError(
                f"view `{view}` names column `{column}`, and the columns of an array have no names: give a frame"
            )
        known = list(names)
        if column not in known:
            close = difflib.get_close_matches(column, known, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            raise TriviewError(f"view `{view}` has column `{column}`, which the table has not{hint}")
        return known.index(column)
    try:
        return range(count)[operator.index(column)]
    except TypeError:
        raise TriviewError(f"view `{view}` has column {column!r}: a column is a number or a name") from None
    except IndexError:
        raise TriviewError(f"view `{view}` has column {column}, and the table has {count}") from None


def _names_in(X: Any, estimator: Any) -> list[str] | None:
    """Give the names of a table's columns, or those that an estimator was fitted to."""
    named = X.columns if hasattr(X, "columns") else getattr(estimator, "feature_names_in_", None)
    return None if named is None else list(named)


def _cut(X: Any, groups: Mapping[str, list[int]]) -> dict[str, Any]:
    """Give the columns of each view, of a frame, an array or a sparse matrix."""
    return {view: _safe_indexing(X, places, axis=1) for view, places in groups.items()}


class _ScoredByViews(ClassifierMixin):  # type: ignore[misc]  # scikit-learn has no types
    """What follows from the scores of the views: log potentials, whose sum over the views is that of the prediction."""

    classes_: NDArray[Any]

    def _scores(self, X: Any) -> dict[str, NDArray[np.float64]]:
        raise NotImplementedError

    def view_scores(self, X: Any) -> NDArray[np.float64]:
        """Give what each view says of each class: an array (rows, views, classes), which `triview.estimate` takes."""
        return np.stack(list(self._scores(X).values()), axis=1)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the summed scores (rows, classes); of two classes what the second is ahead by (rows,)."""
        total = self.view_scores(X).sum(axis=1)
        return np.diff(total, axis=1)[:, 0] if total.shape[1] == 2 else np.asarray(total)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the logarithm of each class's probability: (rows, classes)."""
        return np.asarray(log_softmax(self.view_scores(X).sum(axis=1), axis=1))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probability of each class: (rows, classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class with the largest summed score."""
        best = self.view_scores(X).sum(axis=1).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def risk(self, X: Any, **options: Any) -> Answer:
        """Estimate the risk of the predictions for rows without labels; the options are those of `triview.estimate`."""
        scores = self._scores(X)
        return triview.estimate(scores, classes=texts_of(self.classes_, "classes"), **options)


class ViewsClassifier(MetaEstimatorMixin, _ScoredByViews, BaseEstimator):  # type: ignore[misc]
    """One classifier a group of columns, which predict together by their summed log probabilities.

    With views that are independent given the class, ``p(y | x)`` is proportional to ``prior(y)`` times the product of the views'
    ``p(y | x_v) / prior(y)``. Probabilities that are multiplied as they are would count the prior once a view, so
    ``(views - 1) log prior`` is taken off their summed logarithms, an equal part of it from each view.

    Parameters
    ----------
    estimator
        A classifier with ``predict_proba``, of which each view gets a clone; or a list with one classifier a view.
    views
        The columns of each view: a list (or a dict, by the views' names) of lists of column numbers or names, of slices, or of
        masks. No column may be in two. By default three even groups of neighbouring columns. The risk needs three views or more.
    prior
        The class shares that the classifiers take for granted, in the order of ``classes_``. By default those of the rows in
        ``fit``; classifiers with ``class_weight="balanced"`` take equal ones.

    Attributes
    ----------
    estimators_
        The fitted classifiers, one a view.
    classes_
        The classes.
    class_prior_
        The class shares that are taken off.

    """

    def __init__(self, estimator: Any, views: Views | None = None, *, prior: Any = None) -> None:
        self.estimator = estimator
        self.views = views
        self.prior = prior

    @classmethod
    def from_estimators(
        cls, estimators: Sequence[Any], views: Views | None = None, *, prior: Any = None
    ) -> Self:
        """Join classifiers that are fitted already, one a view; they are neither copied nor fitted again.

        ``views`` are by default neighbouring columns, as many for each as it was fitted to. ``prior`` are the class shares of the
        rows that they were fitted to; without it they are taken to be equal.
        """
        fitted = list(estimators)
        if not fitted:
            raise TriviewError("there are no estimators: give one a view")
        for each in fitted:
            check_is_fitted(each)
        if views is None:
            ends = np.cumsum([each.n_features_in_ for each in fitted]).tolist()
            views = [slice(begin, end) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
        joined = cls(fitted, views, prior=prior)
        joined._paired(views)
        joined.estimators_ = fitted
        joined.classes_ = np.asarray(fitted[0].classes_)
        for at, each in enumerate(fitted, start=1):
            if set(np.asarray(each.classes_).tolist()) != set(joined.classes_.tolist()):
                raise TriviewError(
                    f"estimator {at} has the classes {list(each.classes_)} and the first {list(joined.classes_)}: all need the same"
                )
        joined.class_prior_ = joined._shares(np.full(len(joined.classes_), 1 / len(joined.classes_)))
        return joined

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a classifier to each view's columns."""
        X, y = self._validated(X, y, reset=True)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        parts = self._parts(X)
        templates = self._paired(parts)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.class_prior_ = self._shares(counts / counts.sum())
        self.estimators_ = [
            clone(template).fit(part, y) for template, part in zip(templates, parts.values(), strict=True)
        ]
        return self

    def _parts(self, X: Any) -> dict[str, Any]:
        return _cut(X, _column_groups(self.views, X.shape[1], _names_in(X, self)))

    def _paired(self, views: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
        """One classifier a view."""
        several = isinstance(self.estimator, list | tuple)
        paired = list(self.estimator) if several else [self.estimator] * len(views)
        if len(paired) != len(views):
            raise TriviewError(
                f"there are {len(paired)} estimators and {len(views)} views: one estimator a view is needed"
            )
        for each in paired:
            if not hasattr(each, "predict_proba"):
                name = type(each).__name__
                raise TriviewError(
                    f"a {name} has no predict_proba: give a classifier that has, or wrap it in CalibratedClassifierCV"
                )
        return paired

    def _scores(self, X: Any) -> dict[str, NDArray[np.float64]]:
        check_is_fitted(self)
        parts = self._parts(self._validated(X, reset=False))
        prior = np.log(self.class_prior_) * (1 - 1 / len(parts))
        return {
            view: self._log_probability(estimator, part) - prior
            for (view, part), estimator in zip(parts.items(), self.estimators_, strict=True)
        }

    def _log_probability(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        probability = np.asarray(estimator.predict_proba(X))
        # As in sklearn.metrics.log_loss: no class is impossible.
        logarithm = np.log(np.maximum(probability, np.finfo(probability.dtype).eps), dtype=np.float64)
        known = np.asarray(estimator.classes_).tolist()
        return np.take(logarithm, [known.index(name) for name in self.classes_.tolist()], axis=1)

    def _shares(self, default: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.prior is None:
            return default
        prior = np.asarray(self.prior, dtype=np.float64)
        if prior.shape != default.shape or not (prior > 0).all() or not np.isfinite(prior).all():
            raise TriviewError(
                f"`prior` is {self.prior}: {len(default)} shares above 0 are needed, one a class"
            )
        return np.asarray(prior / prior.sum())

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Check a table as far as that is not the classifiers' own affair; frames stay frames."""
        lenient = {"accept_sparse": ["csr", "csc"], "dtype": None, "ensure_all_finite": False}
        return validate_data(
            self, X, y, reset=reset, **({"skip_check_array": True} if hasattr(X, "columns") else lenient)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        parts = self.estimator if isinstance(self.estimator, list | tuple) else [self.estimator]
        tags.input_tags.sparse = all(get_tags(part).input_tags.sparse for part in parts)
        tags.input_tags.allow_nan = all(get_tags(part).input_tags.allow_nan for part in parts)
        return tags


class AdaptedClassifier(_ScoredByViews, BaseEstimator):  # type: ignore[misc]
    """A logistic model of an old domain, which `adapt` takes to a new one that has no labels.

    Parameters
    ----------
    views
        The columns of each view, as of :class:`ViewsClassifier`: three views or more.
    method, step, epochs, minibatch, penalty
        How the old domain's model is trained; see `triview.train`.
    loss, radius, gap, level
        How it is adapted and judged; see `triview.adapt`.
    seed, threads
        Same rows and seed, same model, for any number of threads.

    Attributes
    ----------
    model_
        The `triview.Model` that predicts.
    adaptation_
        What the last `adapt` did, a `triview.Adaptation`; None before the first.
    classes_
        The classes.

    """

    adaptation_: Adaptation | None

    def __init__(
        self,
        views: Views | None = None,
        *,
        method: str = "adagrad",
        step: float = 0.04,
        epochs: int = 10,
        minibatch: int = 20,
        penalty: float = 0.01,
        loss: str = "log",
        radius: float | None = None,
        gap: float = 0.001,
        level: float = 0.95,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.views = views
        self.method = method
        self.step = step
        self.epochs = epochs
        self.minibatch = minibatch
        self.penalty = penalty
        self.loss = loss
        self.radius = radius
        self.gap = gap
        self.level = level
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: Any) -> Self:
        """Train the model on labelled rows of the old domain."""
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise TriviewError(f"`y` has one class, {self.classes_[0]!r}: two are needed")
        if "" in self._class_names():
            raise TriviewError(
                "`y` has a class without a name: an empty text says that the class is not known"
            )
        model = triview.train(
            self._parts(X), label=self._class_names()[codes], method=self.method, step=self.step, epochs=self.epochs,
            minibatch=self.minibatch, penalty=self.penalty, seed=self.seed, threads=self.threads, progress=False,
        )  # fmt: skip
        self.model_ = self._ordered(model)
        self.adaptation_ = None
        return self

    def adapt(self, X: Any, y: Any = None) -> Self:
        """Adapt the model to rows of the new domain, and take the result where it is judged to be better.

        ``y`` is the class of the few rows of which it is known, with None, NaN or -1 (unless that is a class) for the others. Where
        the verdict is not ``"improved"`` or ``"likely"`` the model stays as it was, with an `UntrustedWarning`. The next `adapt` goes on from there.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=np.float64)
        self.adaptation_ = triview.adapt(
            self._parts(X), model=self.model_, label=None if y is None else self._few(y, X.shape[0]), loss=self.loss,
            radius=self.radius, gap=self.gap, level=self.level, seed=self.seed, threads=self.threads, progress=False,
        )  # fmt: skip
        if self.adaptation_.verdict in ("improved", "likely") and self.adaptation_.model is not None:
            self.model_ = self._ordered(self.adaptation_.model)
        return self

    def _scores(self, X: Any) -> dict[str, NDArray[np.float64]]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=np.float64)
        return self.model_.scores(self._parts(X))

    def _parts(self, X: Any) -> dict[str, Any]:
        groups = _column_groups(self.views, X.shape[1], _names_in(X, self))
        if len(groups) < 3:
            raise TriviewError(
                f"there are {len(groups)} views, with n_features={X.shape[1]}: three or more are needed"
            )
        return _cut(X, groups)

    def _class_names(self) -> NDArray[np.object_]:
        return np.array(texts_of(self.classes_, "y"), dtype=object)

    def _ordered(self, model: Model) -> Model:
        """Give the same with the classes in their order here."""
        order = [model.classes.index(name) for name in self._class_names()]
        return Model(
            {view: weight[order] for view, weight in model.weights.items()},
            {view: bias[order] for view, bias in model.biases.items()},
            [model.classes[at] for at in order],
            model.features,
        )

    def _few(self, y: Any, rows: int) -> list[str | None]:
        labels = texts_of(y, "y")
        if len(labels) != rows:
            raise TriviewError(f"`y` has {len(labels)} values and `X` {rows} rows")
        unknown = {"-1"} - set(self._class_names())
        return [None if label in unknown else label for label in labels]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class RiskScorer:
    """A scorer for rows without labels: minus the risk that `triview.estimate` finds.

    Give it as ``scoring`` to ``GridSearchCV`` or ``cross_validate``. Labels of the rows that are scored are never looked at, so that
    they may be anything.

    Parameters
    ----------
    views
        Where the scores of the views come from. By default it is the estimator's own ``view_scores``, which
        :class:`ViewsClassifier` and :class:`AdaptedClassifier` have. Columns (as of :class:`ViewsClassifier`, every column in a
        view) cut a linear classifier into views. A callable is given the estimator and the rows, and returns what `triview.estimate`
        takes. The first two also work for the last step of a pipeline, on the columns that it sees.
    loss
        The loss whose mean is the risk; see `triview.estimate`.
    sign
        -1 for minus the risk, so that the largest score is the best, or 1 for the risk itself.
    untrusted
        What to do where the estimate is not to be trusted: ``"warn"``, give ``"nan"`` for it, or ``"raise"`` an `UntrustedError`.
        Views that are independent given the class fail the test of it by chance once in twenty times.
    **options
        Further options of `triview.estimate`.

    """

    def __init__(
        self,
        views: Views | Callable[[Any, Any], Any] | None = None,
        loss: str = "log",
        *,
        sign: int = -1,
        untrusted: str = "warn",
        **options: Any,
    ) -> None:
        if sign not in (-1, 1):
            raise TriviewError(f"`sign` is {sign!r}: it is -1 for minus the risk, or 1")
        if untrusted not in ("warn", "nan", "raise"):
            raise TriviewError(f'`untrusted` is {untrusted!r}: it is "warn", "nan" or "raise"')
        self.views = views
        self.loss = loss
        self.sign = sign
        self.untrusted = untrusted
        self.options = options

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Score a fitted estimator on rows without labels."""
        scores, classes = self._scores(estimator, X), getattr(estimator, "classes_", None)
        names = None if classes is None else texts_of(classes, "classes")
        options = {"classes": names, "progress": False, **self.options}
        try:
            answer = triview.estimate(scores, loss=self.loss, strict=self.untrusted != "warn", **options)
        except UntrustedError:
            if self.untrusted == "raise":
                raise
            return float("nan")
        return self.sign * answer.risk

    def _scores(self, estimator: Any, X: Any) -> Any:
        if callable(self.views):
            return self.views(estimator, X)
        if isinstance(estimator, Pipeline):
            *_, (_, last) = estimator.steps
            X, estimator = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X, last
        if self.views is None:
            if not hasattr(estimator, "view_scores"):
                raise TriviewError(
                    f"a {type(estimator).__name__} has no view_scores: take a ViewsClassifier, or say by `views` which columns a linear "
                    "classifier's views have, or give a callable that makes scores of an estimator and rows"
                )
            return estimator.view_scores(X)
        if not hasattr(estimator, "coef_"):
            raise TriviewError(
                f"a {type(estimator).__name__} has no coef_: only a linear classifier can be cut into views"
            )
        groups = _column_groups(self.views, estimator.n_features_in_, _names_in(X, estimator))
        return Model.from_sklearn(estimator, groups).scores(_cut(X, groups))

    def __repr__(self) -> str:
        return f"RiskScorer(loss={self.loss!r}, sign={self.sign}, untrusted={self.untrusted!r})"


class CrowdAggregator(BaseEstimator):  # type: ignore[misc]
    """The labels that a crowd's votes say, how sure they are, and what each annotator is worth.

    Parameters
    ----------
    item, annotator, vote
        The columns of a frame, where their names are not the usual ones.
    smoothing
        Votes for each class that are added to every annotator's.
    level, seed, threads
        As of `triview.votes`.

    Attributes
    ----------
    labels_
        The label of each item.
    posterior_
        How likely each class is for each item: (items, classes).
    items_
        The names of the items, in this order: the rows of an array, or as a frame first has them.
    classes_
        The classes.
    annotators_
        A table with one row an annotator: votes, error, confusion matrix, what a vote is worth.
    error_rate_
        How often the labels are wrong; without known classes the least that it can be.
    answer_
        All of it: a `triview.Votes`.

    """

    def __init__(
        self,
        *,
        item: str | None = None,
        annotator: str | None = None,
        vote: str | None = None,
        smoothing: float | None = None,
        level: float = 0.95,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.item = item
        self.annotator = annotator
        self.vote = vote
        self.smoothing = smoothing
        self.level = level
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the labels.

        Parameters
        ----------
        X
            The votes: a frame or file as of `triview.votes`, or an array of whole numbers (items, annotators), -1 or NaN where an
            annotator did not vote. An item of an array without votes gets the class prior.
        y
            The classes of items, drawn at random, of which they are known. For an array one number an item, -1 or NaN where it is
            not known; otherwise what `triview.votes` takes as ``gold``.

        """
        tabled = (
            isinstance(X, str | os.PathLike | Mapping)
            or hasattr(X, "columns")
            or hasattr(X, "__arrow_c_stream__")
        )
        self._fit_table(X, y) if tabled else self._fit_array(X, y)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Find the labels, and give them."""
        return self.fit(X, y).labels_

    def _fit_table(self, votes: Any, gold: Any) -> None:
        table = self._ask(votes, gold, item=self.item, annotator=self.annotator, vote=self.vote)
        self.items_: NDArray[Any] = np.asarray(table["item"])
        self.classes_: NDArray[Any] = np.asarray(self.answer_.classes)
        self.posterior_: NDArray[np.float64] = _posterior(table, self.answer_.classes)
        self.labels_: NDArray[Any] = np.asarray(table["label"])

    def _fit_array(self, votes: Any, known: Any) -> None:
        cast, items = _whole(votes, "the votes", axes=2), len(votes)
        rows, columns = np.nonzero(cast >= 0)
        texts = [("item", rows), ("annotator", columns), ("vote", cast[rows, columns])]
        records = Records.of_columns(
            "the votes", [(name, list(map(str, part.tolist())), False) for name, part in texts]
        )
        gold = None
        if known is not None:
            classes = _whole(known, "`y`", axes=1)
            if len(classes) != items:
                raise TriviewError(f"`y` has {len(classes)} values for {items} items")
            gold = {int(at): int(classes[at]) for at in np.flatnonzero(classes >= 0)}
        table = self._ask(records, gold)
        self.items_ = np.arange(items)
        self.classes_ = np.array(self.answer_.classes, dtype=np.int64)
        self.posterior_ = np.tile(list(self.answer_.class_prior.values()), (items, 1))
        self.labels_ = self.classes_[self.posterior_.argmax(axis=1)]
        voted = np.array(table["item"], dtype=np.int64)
        self.posterior_[voted] = _posterior(table, self.answer_.classes)
        self.labels_[voted] = np.array(table["label"], dtype=np.int64)

    def _ask(self, votes: Any, gold: Any, **columns: Any) -> dict[str, Any]:
        self.answer_: Votes = triview.votes(
            votes, gold=gold, **columns, smoothing=self.smoothing, level=self.level, seed=self.seed, threads=self.threads,
            progress=False,
        )  # fmt: skip
        self.annotators_: Frame = self.answer_.annotators()
        self.error_rate_ = self.answer_.error_rate
        return self.answer_.labels().to_dict()


def _posterior(labels: Mapping[str, Any], classes: Sequence[str]) -> NDArray[np.float64]:
    return np.stack([labels[f"posterior:{name}"] for name in classes], axis=1)


def _whole(values: Any, what: str, *, axes: int) -> NDArray[np.int64]:
    """Whole numbers from 0 on, and -1 for what is missing."""
    array = np.asarray(values)
    if array.dtype.kind not in "iufb":
        raise TriviewError(
            f"{what} holds {array.dtype}: an array needs whole numbers; votes that are texts come as a frame"
        )
    if array.ndim != axes:
        needed = "(items, annotators)" if axes == 2 else "one value an item"
        raise TriviewError(f"{what} has {array.ndim} axes: {needed} is needed")
    numbers = np.where(np.isnan(array), -1, array)
    whole = numbers.astype(np.int64)
    if (whole != numbers).any() or (whole < -1).any():
        raise TriviewError(
            f"{what} holds a number that is no class: whole numbers from 0 on are needed, and -1 or NaN for none"
        )
    return whole
