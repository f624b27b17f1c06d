"""Linear models, view by view: those that `train` and `adapt` make, and scikit-learn's."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from triview._core import TriviewError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

#: What the file's metadata calls it.
_KEY = "triview"
#: The version of the format; the core reads its own only.
_VERSION = 1


class Model:
    """A model whose scores are ``weight @ features + bias`` in each view, summed over the views.

    On disk it is a safetensors file with ``weight.<view>`` (classes x features) and ``bias.<view>`` (classes).
    """

    def __init__(
        self,
        weights: Mapping[str, Any],
        biases: Mapping[str, Any],
        classes: Sequence[Any],
        features: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        #: The names of the classes.
        self.classes: list[str] = [str(name) for name in classes]
        #: Of each view, one row a class and one column a feature.
        self.weights: dict[str, NDArray[np.float64]] = {
            view: np.array(weight, dtype=np.float64) for view, weight in weights.items()
        }
        #: Of each view, one number a class.
        self.biases: dict[str, NDArray[np.float64]] = {
            view: np.array(bias, dtype=np.float64) for view, bias in biases.items()
        }
        #: The names of the features of each view.
        self.features: dict[str, list[str]] = {
            view: [str(name) for name in (features or {}).get(view, range(weight.shape[-1]))]
            for view, weight in self.weights.items()
        }
        for view, weight in self.weights.items():
            expected = (len(self.classes), len(self.features[view]))
            if weight.shape != expected:
                raise TriviewError(
                    f"the weights of view `{view}` have the shape {weight.shape}: {expected} is needed"
                )
            if view not in self.biases or self.biases[view].shape != expected[:1]:
                raise TriviewError(f"the biases of view `{view}` need {expected[0]} numbers, one a class")
            if not (np.isfinite(weight).all() and np.isfinite(self.biases[view]).all()):
                raise TriviewError(f"view `{view}` has a parameter that is not finite")

    @property
    def views(self) -> list[str]:
        """The names of the views."""
        return list(self.weights)

    def scores(self, features: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
        """Give what each view says of each class: arrays (rows, classes), of arrays (rows, features)."""
        return {
            view: np.asarray(features[view] @ weight.T) + self.biases[view]
            for view, weight in self.weights.items()
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that the command line reads."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model that `train`, `adapt` or `save` wrote."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except TriviewError as error:
            raise TriviewError(f"`{path}`: {error}") from None

    def to_bytes(self) -> bytes:
        """Give what a file of the model holds."""
        views = [{"name": view, "features": self.features[view]} for view in self.views]
        envelope = {
            "triview": "model",
            "version": _VERSION,
            "header": {"views": views, "classes": self.classes},
        }
        header: dict[str, Any] = {"__metadata__": {_KEY: json.dumps(envelope)}}
        chunks: list[bytes] = []
        at = 0
        for name, array in self._tensors():
            chunk = np.ascontiguousarray(array, dtype="<f8").tobytes()
            header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [at, at + len(chunk)]}
            chunks.append(chunk)
            at += len(chunk)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + b"".join(chunks)

    def _tensors(self) -> list[tuple[str, NDArray[np.float64]]]:
        named = [(f"weight.{view}", weight) for view, weight in self.weights.items()]
        return named + [(f"bias.{view}", bias) for view, bias in self.biases.items()]

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """Read what `to_bytes` made."""
        try:
            (length,) = struct.unpack_from("<Q", data)
            header = json.loads(data[8 : 8 + length])
            envelope = json.loads(header["__metadata__"][_KEY])
            names = envelope["header"]
        except (struct.error, ValueError, KeyError, TypeError):
            raise TriviewError("this is no model: a safetensors file of triview's is needed") from None
        if envelope.get("triview") != "model" or envelope.get("version") != _VERSION:
            found = f"{envelope.get('triview')} of version {envelope.get('version')}"
            raise TriviewError(f"this is a {found}: a model of version {_VERSION} is needed")

        def tensor(name: str) -> NDArray[np.float64]:
            begin, end = header[name]["data_offsets"]
            return np.frombuffer(data[8 + length + begin : 8 + length + end], dtype="<f8").reshape(
                header[name]["shape"]
            )

        try:
            features = {view["name"]: view["features"] for view in names["views"]}
            classes = names["classes"]
            weights = {view: tensor(f"weight.{view}") for view in features}
            biases = {view: tensor(f"bias.{view}") for view in features}
            end = max(tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__")
        except (KeyError, ValueError, TypeError):
            raise TriviewError("the model is damaged: a tensor or a name is missing or cut short") from None
        if len(data) != 8 + length + end:
            raise TriviewError(
                f"the model is damaged: it has {len(data)} bytes where its header promises {8 + length + end}"
            )
        return cls(weights, biases, classes, features)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Model.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        views = ", ".join(f"{view} ({weight.shape[1]} features)" for view, weight in self.weights.items())
        return f"<Model: {views}; {len(self.classes)} classes>"

    @classmethod
    def from_sklearn(cls, estimator: Any, views: Mapping[str, Sequence[Any]]) -> Model:
        """Cut a fitted linear classifier of scikit-learn's into views.

        ``views`` names for each view its features: their numbers among the columns that the classifier was fitted to, or their
        names where it was fitted to a frame. Every column belongs to one view. The bias is shared out evenly.
        """
        if not hasattr(estimator, "coef_"):
            raise TriviewError(
                f"a {type(estimator).__name__} has no coef_: a fitted linear classifier is needed"
            )
        # Sparse after `sparsify`, and one 0 for all classes where no intercept was fitted.
        coefficients = estimator.coef_.toarray() if hasattr(estimator.coef_, "toarray") else estimator.coef_
        weights = np.atleast_2d(coefficients)
        bias = np.broadcast_to(np.atleast_1d(estimator.intercept_), len(weights))
        if len(estimator.classes_) == 2 and len(weights) == 1:
            weights, bias = np.vstack([np.zeros_like(weights), weights]), np.concatenate([np.zeros(1), bias])
        known = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
        places: dict[str, list[int]] = {}
        for view, columns in views.items():
            for column in columns:
                if isinstance(column, str) and column not in known:
                    raise TriviewError(
                        f"view `{view}` has the feature `{column}`, which the classifier was not fitted to"
                    )
            places[view] = [
                known.index(column) if isinstance(column, str) else int(column) for column in columns
            ]
        used = sorted(place for own in places.values() for place in own)
        if used != list(range(weights.shape[1])):
            raise TriviewError(
                f"the views have {len(used)} features: each of the classifier's {weights.shape[1]} belongs to one view"
            )
        return cls(
            {view: weights[:, own] for view, own in places.items()},
            {view: bias / len(places) for view in places},
            [str(name) for name in estimator.classes_],
            {view: [known[at] if known else str(at) for at in own] for view, own in places.items()},
        )

    def to_sklearn(self) -> Any:
        """Give the same as a fitted ``LogisticRegression`` over all features, view after view.

        It knows the features by their names, unless these are numbers or some views share one. Classes are texts.
        """
        from sklearn.linear_model import LogisticRegression

        weights, bias = (
            np.hstack(list(self.weights.values())),
            sum(self.biases.values(), np.zeros(len(self.classes))),
        )
        model = LogisticRegression()
        if len(self.classes) == 2:
            weights, bias = weights[1:] - weights[:1], bias[1:] - bias[:1]
        model.coef_, model.intercept_ = weights, bias
        model.classes_, model.n_features_in_ = np.array(self.classes), weights.shape[1]
        model.n_iter_ = np.zeros(1, dtype=np.int32)
        names = [name for view in self.views for name in self.features[view]]
        if len(set(names)) == len(names) and not all(name.isdigit() for name in names):
            model.feature_names_in_ = np.array(names, dtype=object)
        return model
