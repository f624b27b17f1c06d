"""Tables that answers come as."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from triview._core import Records, TriviewError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType


def optional(*names: str, purpose: str) -> ModuleType:
    """Import the first of some packages that is there."""
    for name in names:
        if importlib.util.find_spec(name.split(".", maxsplit=1)[0]) is not None:
            return importlib.import_module(name)
    wanted = " or ".join(names)
    raise TriviewError(f"{purpose} needs {wanted}, which is not installed")


def frame_of(columns: Mapping[str, Any]) -> Any:
    """Columns as a frame of pandas, or of polars where that alone is installed."""
    frames = optional("pandas", "polars", purpose="a frame")
    return frames.DataFrame(dict(columns))


class Frame:
    """Rows with named columns, held by the core.

    Any library that reads Arrow's C stream takes it as it is (``polars.DataFrame(frame)``, ``pyarrow.table(frame)``, DuckDB).
    """

    def __init__(self, records: Records | str) -> None:
        self._held = records

    @property
    def _records(self) -> Records:
        if isinstance(self._held, str):
            raise TriviewError(f"the rows are in `{self._held}`, where they were asked to go, and not held")
        return self._held

    def __len__(self) -> int:
        return len(self._records)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._records.names

    def to_dict(self) -> dict[str, Any]:
        """Give the columns: arrays of numbers, and lists of texts and Nones."""
        return self._records.columns()

    def to_pandas(self) -> Any:
        """Give the same as a frame of pandas."""
        pandas = optional("pandas", purpose="to_pandas()")
        return pandas.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """Give the same as a frame of polars."""
        polars = optional("polars", purpose="to_polars()")
        return polars.DataFrame(self)

    def to_frame(self) -> Any:
        """Give the same as a frame of pandas, or of polars where that alone is installed."""
        return frame_of(self.to_dict())

    def __getitem__(self, column: str) -> Any:
        try:
            return self._records.columns()[column]
        except KeyError:
            raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}") from None

    def __getstate__(self) -> dict[str, Any]:
        held = self._held
        return self.__dict__ | {"_held": held if isinstance(held, str) else held.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        held = state["_held"]
        self.__dict__.update(
            state | {"_held": held if isinstance(held, str) else Records.from_bytes("the table", held)}
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._records.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        if isinstance(self._held, str):
            return f"{type(self).__name__}(rows in {self._held})"
        return f"{type(self).__name__}({len(self)} rows: {', '.join(self.columns)})"
