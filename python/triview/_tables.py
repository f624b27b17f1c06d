"""From what users hold to tables of the core: frames, arrays, files."""

from __future__ import annotations

import datetime
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def tables_of(data: Any, *, probability: bool = False, witness: Any = None) -> list[Table]:
    """Whatever a user may hold, as tables of the core. Nothing is copied that lies as the core reads it.

    Three views are needed, witnesses included.
    """
    needed = max(1, 3 - _count(witness))
    if isinstance(data, str | os.PathLike):
        return [os.fspath(data)]
    if isinstance(data, np.ndarray):
        return [_of_array(data, needed)]
    if isinstance(data, Mapping):
        return [_of_views(data, needed, probability=probability)]
    frame = _of_frame(data)
    if frame is not None:
        return [frame]
    if isinstance(data, Iterable) and not isinstance(data, bytes | bytearray | memoryview):
        parts = [
            part
            for item in distinct(data)
            for part in tables_of(item, probability=probability, witness=witness)
        ]
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


def distinct(items: Iterable[Any]) -> Iterator[Any]:
    """Give the items; an iterator may not fill the same array again, as rows are not copied, and read twice."""
    seen: set[int] = set()
    for item in items:
        if isinstance(items, Iterator) and isinstance(item, np.ndarray):
            if item.ctypes.data in seen:
                raise TriviewError(
                    "the iterator gives the same array twice, and rows are not copied: give copies, or a list"
                )
            seen.add(item.ctypes.data)
        yield item


def column_tables(data: Any) -> list[Table]:
    """Tables of which each column is one value a row, as a dict of them too."""
    if not isinstance(data, Mapping):
        return tables_of(data)
    columns = {str(name): column_of(values, f"column `{name}`") for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    for name, length in lengths.items():
        first, rows = next(iter(lengths.items()))
        if length != rows:
            raise TriviewError(
                f"column `{name}` has {length} rows and column `{first}` {rows}: all need as many"
            )
    if not any(lengths.values()):
        raise TriviewError("the table has no rows")
    numbers = (
        (name, values, isinstance(values, np.ndarray) and values.dtype.kind == "f")
        for name, values in columns.items()
    )
    return [Records.of_columns("the table", list(numbers))]


def with_riders(tables: list[Table], riders: Mapping[str, Any]) -> tuple[list[Table], dict[str, str]]:
    """Columns of the rows that were given as arrays, put into the table. Says what each column is called."""
    names: dict[str, str] = {}
    for option, values in riders.items():
        if values is None:
            continue
        if isinstance(values, str):
            if any(isinstance(table, Records) and table.names.count(values) > 1 for table in tables):
                raise TriviewError(f"the table has two columns named `{values}`: rename or remove one")
            names[option] = values
            continue
        records = tables[0]
        if len(tables) != 1 or isinstance(records, str):
            raise TriviewError(
                f"`{option}` is an array, and the rows are in files or in several tables: name a column of theirs instead"
            )
        name = _RIDER.format(option)
        while name in records.names:
            name += "'"
        names[option] = name
        column = column_of(values, f"`{option}`", whole=True)
        if len(column) != len(records):
            raise TriviewError(
                f"`{option}` has {len(column)} values for the {len(records)} rows of the table"
            )
        tables = [records.with_column(name, column)]
    return tables, names


def with_witnesses(tables: list[Table], witness: Any) -> tuple[list[Table], list[str] | None]:
    """Columns without scores, put into the table where they were given as arrays. Says what they are called."""
    if witness is None:
        return tables, None
    if not isinstance(witness, Mapping):
        if hasattr(witness, "__array__"):
            raise TriviewError("`witness` is an array without a name: give it one, as in {'hospital': array}")
        return tables, names_of(witness)
    for name, values in witness.items():
        records = tables[0]
        if len(tables) != 1 or isinstance(records, str):
            raise TriviewError(
                "`witness` has arrays, and the rows are in files or in several tables: name columns of theirs instead"
            )
        if name in records.names:
            raise TriviewError(f"the table has a column `{name}`, and `witness` has an array of that name")
        column = column_of(values, f"witness `{name}`")
        if len(column) != len(records):
            raise TriviewError(
                f"witness `{name}` has {len(column)} values for the {len(records)} rows of the table"
            )
        tables = [records.with_column(str(name), column)]
    return tables, [str(name) for name in witness]


def column_of(values: Any, what: str, *, whole: bool = False) -> NDArray[Any] | list[str | None]:
    """Give one value a row: numbers as they are, unless only ``whole`` ones are wanted, and all else as texts."""
    array = _one_axis(values, what)
    if array.dtype.kind in "iu" and (
        array.dtype.itemsize < 8 or array.max(initial=0) <= np.iinfo(np.int64).max
    ):
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind == "f" and not whole:
        return np.ascontiguousarray(array, dtype=np.float64)
    return _texts(array)


def texts_of(values: Any, option: str) -> list[str | None]:
    """Give names of classes, days or groups, one a row, as texts; what is missing has none."""
    return _texts(_one_axis(values, f"`{option}`"))


def _one_axis(values: Any, what: str) -> NDArray[Any]:
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        shown = zip(values.data.tolist(), np.ma.getmaskarray(values).tolist(), strict=True)
        values = np.array([None if hidden else value for value, hidden in shown], dtype=object)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise TriviewError(f"{what} is not one value a row: {error}") from None
    if array.ndim != 1:
        raise TriviewError(f"{what} has {array.ndim} axes: one value a row is needed")
    return array


def _texts(array: NDArray[Any]) -> list[str | None]:
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] in ("ns", "ps", "fs", "as"):
        # Python knows no such moments, and NumPy gives whole numbers instead.
        array = array.astype("M8[us]")
    # Numbers of four bytes have fewer digits than Python's own.
    return [text_of(value) for value in (array if array.dtype == np.float32 else array.tolist())]


def text_of(value: Any) -> str | None:
    """Give a name as a text, unless it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float | np.float32):
        if np.isnan(value):
            return None
        # What pandas makes of whole numbers among which some are missing.
        return str(int(value)) if float(value).is_integer() else str(value)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, datetime.datetime):
        # As Arrow writes it.
        moment = value if value.tzinfo is None else value.astimezone(datetime.UTC)
        return moment.isoformat().replace("+00:00", "Z")
    return str(value)


def numbers_of(values: Any, what: str) -> NDArray[Any]:
    """Numbers in C order, copied only where they lie otherwise."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise TriviewError(
            f"{what} is masked in places: fill them in, or give a frame, in which a view that is missing in a row has nulls"
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise TriviewError(f"{what} is no array: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TriviewError(
            f"{what} holds {array.dtype} and not numbers: give float32 or float64, such as by astype(float)"
        )
    if array.dtype.type not in _NATIVE or not array.dtype.isnative:
        array = array.astype(np.float64)
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def _count(witness: Any) -> int:
    """How many witnesses are named or given."""
    if hasattr(witness, "__array__"):
        return 1
    return len(witness) if isinstance(witness, Mapping) else len(names_of(witness) or [])


def _of_array(scores: NDArray[Any], needed: int) -> Records:
    array = numbers_of(scores, "the array")
    if scores.ndim != 3:
        shape = " x ".join(map(str, scores.shape))
        raise TriviewError(
            f"the array has {scores.ndim} axes ({shape or 'a number'}) where three are needed: (rows, views, classes); or give a dict with one "
            "array (rows, classes) a view"
        )
    rows, views, classes = array.shape
    if views < needed:
        raise TriviewError(f"the array has {views} views (its second axis), and three are needed")
    if classes < 2:
        raise TriviewError(f"the array has {classes} classes (its third axis), and two are needed")
    if rows == 0:
        raise TriviewError("the array has no rows (its first axis)")
    return Records.of_columns("the array", [("scores", array, False)])


def _of_views(views: Mapping[Any, Any], needed: int, *, probability: bool) -> Records:
    arrays: dict[str, NDArray[Any]] = {}
    for name, values in views.items():
        array = numbers_of(values, f"view `{name}`")
        if array.ndim == 1:
            # Of two classes what the second has: its probability, or its log-odds.
            first = 1.0 - array if probability else np.zeros_like(array)
            array = np.ascontiguousarray(np.stack([first, array], axis=1))
        if array.ndim != 2:
            raise TriviewError(f"view `{name}` has {array.ndim} axes: an array (rows, classes) is needed")
        if array.shape[1] < 2:
            raise TriviewError(
                f"view `{name}` has {array.shape[1]} classes (its second axis), and two are needed"
            )
        _put(arrays, name, array)
    _agree(arrays, axis=0, unit="rows")
    _agree(arrays, axis=1, unit="classes")
    if len(arrays) < needed:
        raise TriviewError(f"{len(arrays)} view(s) are given ({', '.join(arrays)}), and three are needed")
    return Records.of_columns("the views", [(name, array, False) for name, array in arrays.items()])


def feature_tables(data: Any) -> list[Table]:
    """Tables of features: as those of scores, but that views may have different numbers of them, and may be sparse."""
    if not isinstance(data, Mapping):
        return tables_of(data)
    arrays: dict[str, NDArray[Any]] = {}
    for name, features in data.items():
        array = numbers_of(features.toarray() if hasattr(features, "toarray") else features, f"view `{name}`")
        if array.ndim != 2:
            raise TriviewError(f"view `{name}` has {array.ndim} axes: an array (rows, features) is needed")
        if array.shape[1] == 0:
            raise TriviewError(f"view `{name}` has no features (its second axis)")
        _put(arrays, name, array.astype(np.float64, copy=False))
    if not arrays:
        raise TriviewError("no view is given: give a dict with one array (rows, features) a view")
    _agree(arrays, axis=0, unit="rows")
    return [Records.of_columns("the features", [(name, array, False) for name, array in arrays.items()])]


def _put(arrays: dict[str, NDArray[Any]], name: Any, array: NDArray[Any]) -> None:
    if str(name) in arrays:
        raise TriviewError(f"two views are called `{name}`")
    if len(array) == 0:
        raise TriviewError(f"view `{name}` has no rows (its first axis)")
    arrays[str(name)] = array


def _agree(arrays: Mapping[str, NDArray[Any]], *, axis: int, unit: str) -> None:
    lengths = {name: array.shape[axis] for name, array in arrays.items()}
    for name, length in lengths.items():
        first, expected = next(iter(lengths.items()))
        if length != expected:
            raise TriviewError(
                f"view `{name}` has {length} {unit} and view `{first}` {expected}: all need as many"
            )


def _of_frame(data: Any) -> Records | None:
    """Take a frame; nothing where it is something else."""
    is_pandas = type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")
    if is_pandas and _is_by_level(data.columns):
        # Columns (view, class) of pandas are `view:class` here.
        names = [":".join(str(level) for level in name if level != "") for name in data.columns]
        data = data.set_axis(names, axis="columns")
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return Records.of_stream("the table", data)
        except Exception as error:
            # pandas without pyarrow, or with columns that pyarrow has no type for.
            if not is_pandas:
                kind = type(data).__name__
                raise TriviewError(
                    f"a {kind} is no table: it does not stream rows with named columns ({error})"
                ) from error
    if is_pandas:
        return _of_pandas(data)
    # DuckDB's relations, as long as they do not stream by themselves.
    if type(data).__module__.partition(".")[0] in ("duckdb", "_duckdb") and hasattr(data, "arrow"):
        return Records.of_stream("the table", data.arrow())
    return None


def _is_by_level(columns: Any) -> bool:
    return getattr(columns, "nlevels", 1) > 1


def _of_pandas(frame: Any) -> Records:
    """Take a frame by its NumPy columns, as pyarrow would have it: what is not a number is missing."""
    columns = [
        (str(name), *_of_series(frame.iloc[:, at], str(name))) for at, name in enumerate(frame.columns)
    ]
    if not len(frame) or not columns:
        raise TriviewError("the table has no rows")
    return Records.of_columns("the table", columns)


def _of_series(series: Any, name: str) -> tuple[Any, bool]:
    """Give the values of a column, and whether those that are not a number are missing."""
    kind, is_score = series.dtype.kind, ":" in name
    is_extended = hasattr(series.dtype, "na_value")
    if kind in "fiu" and is_extended and (is_score or kind == "f"):
        return np.ascontiguousarray(series.to_numpy(dtype=np.float64, na_value=np.nan)), True
    if kind == "f":
        return numbers_of(series.to_numpy(), f"column `{name}`"), True
    if kind in "iu" and not is_extended:
        fits = kind == "i" or series.max() <= np.iinfo(np.int64).max
        if fits or is_score:
            return np.ascontiguousarray(series.to_numpy(np.int64 if fits else np.float64)), False
    values = series.tolist()
    if kind == "b":
        return [None if (said := text_of(value)) is None else said.lower() for value in values], False
    if kind == "O" and any(isinstance(value, list | tuple | np.ndarray) for value in values):
        lists = numbers_of(values, f"column `{name}`")
        if lists.ndim != 2 or not lists.shape[1]:
            raise TriviewError(
                f"column `{name}` holds lists of {lists.ndim - 1} axes: lists of numbers are needed"
            )
        return lists, False
    return [text_of(value) for value in values], False


def counted(value: Any, option: str, *, least: int = 0) -> int:
    """Check a whole number, which the core has to be able to count to."""
    number = operator.index(value)
    if not least <= number < 2**63:
        raise TriviewError(f"`{option}` is {number}: a number from {least} on is needed")
    return number


def names_of(values: Any) -> list[str] | None:
    """Give a list of names as texts."""
    if values is None:
        return None
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Sequence | np.ndarray):
        raise TriviewError(f"{values!r} is no list of names")
    return [str(value) for value in values]
