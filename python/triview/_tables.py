"""From what users hold to tables of the core: frames, arrays, files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triview._core import Records, TriviewError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A table of the core: rows in memory, or a file's path.
Table: TypeAlias = Records | str

#: What the core reads as it is; other numbers are copied into the last.
_NATIVE = (np.float32, np.float64)

#: What a column that is made of an array is called, unless the table has one of that name.
_RIDER = "triview.{}"


def tables_of(data: Any, *, probability: bool = False) -> list[Table]:
    """Whatever a user may hold, as tables of the core. Nothing is copied that lies as the core reads it."""
    if isinstance(data, str | os.PathLike):
        return [os.fspath(data)]
    if isinstance(data, np.ndarray):
        return [_of_array(data)]
    if isinstance(data, Mapping):
        return [_of_views(data, probability=probability)]
    frame = _of_frame(data)
    if frame is not None:
        return [frame]
    if isinstance(data, Iterable):
        parts = [part for item in data for part in tables_of(item, probability=probability)]
        if not parts:
            raise TriviewError(
                "there are no tables in what is given: an iterator that was read before has nothing left, and rows are read "
                "twice; give a list of tables"
            )
        return parts
    raise TriviewError(
        f"a {type(data).__name__} is no table: give a frame (pandas, polars, pyarrow), an array with the axes (rows, views, "
        "classes), a dict with one array (rows, classes) a view, or a path"
    )


def with_riders(tables: list[Table], riders: Mapping[str, Any]) -> tuple[list[Table], dict[str, str]]:
    """Columns of the rows that were given as arrays, put into the table. Says what each column is called."""
    names: dict[str, str] = {}
    for option, values in riders.items():
        if values is None:
            continue
        if isinstance(values, str):
            names[option] = values
            continue
        records = tables[0]
        if len(tables) != 1 or isinstance(records, str):
            raise TriviewError(
                f"`{option}` is an array, and the rows are in files or in several tables: name a column of theirs instead"
            )
        name = _RIDER.format(option)
        names[option] = name
        tables = [records.with_column(name, texts_of(values, option))]
    return tables, names


def texts_of(values: Any, option: str) -> list[str | None]:
    """Names of classes, days or groups, one a row, as texts; what is missing has none."""
    column = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(column, np.ma.MaskedArray):
        column = [None if hidden else value for value, hidden in zip(column.data, np.ma.getmaskarray(column), strict=True)]
    array = np.asarray(column)
    if array.ndim != 1:
        raise TriviewError(f"`{option}` has {array.ndim} axes: one value a row is needed")
    return [_text(value) for value in array.tolist()]


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType"):
        return None
    # What pandas makes of whole numbers among which some are missing.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _numbers(values: Any, what: str) -> NDArray[Any]:
    """Numbers in C order, copied only where they lie otherwise."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise TriviewError(f"{what} is no array: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TriviewError(
            f"{what} holds {array.dtype} and not numbers: give float32 or float64, such as {what}.astype(float)"
        )
    if array.dtype.type not in _NATIVE or not array.dtype.isnative:
        array = array.astype(np.float64)
    return np.ascontiguousarray(array)


def _of_array(scores: NDArray[Any]) -> Records:
    array = _numbers(scores, "the array")
    if array.ndim != 3:
        shape = " x ".join(map(str, array.shape))
        raise TriviewError(
            f"the array has {array.ndim} axes ({shape}) where three are needed: (rows, views, classes); or give a dict with one "
            "array (rows, classes) a view"
        )
    _, views, classes = array.shape
    if views < 3:
        raise TriviewError(f"the array has {views} views (its second axis), and three are needed")
    if classes < 2:
        raise TriviewError(f"the array has {classes} classes (its third axis), and two are needed")
    return Records.of_columns("the array", [("scores", array, False)])


def _of_views(views: Mapping[Any, Any], *, probability: bool) -> Records:
    arrays: dict[str, NDArray[Any]] = {}
    for name, values in views.items():
        array = _numbers(values, f"view `{name}`")
        if array.ndim == 1:
            # Of two classes what the second has: its probability, or its log-odds.
            first = 1.0 - array if probability else np.zeros_like(array)
            array = np.ascontiguousarray(np.stack([first, array], axis=1))
        if array.ndim != 2:
            raise TriviewError(f"view `{name}` has {array.ndim} axes: an array (rows, classes) is needed")
        arrays[str(name)] = array
    for axis, unit in ((0, "rows"), (1, "classes")):
        first, *others = arrays.items() or [("", np.empty((0, 0)))]
        for name, array in others:
            if array.shape[axis] != first[1].shape[axis]:
                raise TriviewError(
                    f"view `{name}` has {array.shape[axis]} {unit} and view `{first[0]}` {first[1].shape[axis]}: all need as many"
                )
    if len(arrays) < 3:
        raise TriviewError(f"{len(arrays)} view(s) are given ({', '.join(arrays)}), and three are needed")
    return Records.of_columns("the views", [(name, array, False) for name, array in arrays.items()])


def _of_frame(data: Any) -> Records | None:
    """A frame; nothing where it is something else."""
    is_pandas = type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")
    if is_pandas and _is_by_level(data.columns):
        # Columns (view, class) of pandas are `view:class` here.
        data = data.set_axis([":".join(map(str, name)) for name in data.columns], axis="columns")
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return Records.of_stream("the table", data)
        except ImportError:
            # pandas without pyarrow.
            if not is_pandas:
                raise
    if is_pandas:
        return _of_pandas(data)
    # DuckDB's relations, as long as they do not stream by themselves.
    if type(data).__module__.partition(".")[0] in ("duckdb", "_duckdb") and hasattr(data, "arrow"):
        return Records.of_stream("the table", data.arrow())
    return None


def _is_by_level(columns: Any) -> bool:
    return getattr(columns, "nlevels", 1) > 1


def _of_pandas(frame: Any) -> Records:
    """A frame by its NumPy columns, as pyarrow would have it: what is not a number is missing."""
    columns: list[tuple[str, Any, bool]] = []
    for at, name in enumerate(frame.columns):
        column = frame.iloc[:, at]
        if column.dtype.kind in "fiub" and not hasattr(column.dtype, "na_value"):
            whole = column.dtype.kind in "iu"
            values = column.to_numpy(np.int64) if whole else _numbers(column.to_numpy(), f"column `{name}`")
            columns.append((str(name), np.ascontiguousarray(values), not whole))
        elif column.dtype.kind in "fiu":
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            columns.append((str(name), np.ascontiguousarray(values), True))
        else:
            columns.append((str(name), [_text(value) for value in column.tolist()], False))
    return Records.of_columns("the table", columns)


def names_of(values: Any) -> list[str] | None:
    """A list of names, as texts."""
    if values is None:
        return None
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Sequence | np.ndarray):
        raise TriviewError(f"{values!r} is no list of names")
    return [str(value) for value in values]
