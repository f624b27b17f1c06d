"""How far long work is."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Called with what is being done, how many rows (fits or segments while something is fitted) are done, and of how many where that is known.
Listener: TypeAlias = Callable[[str, int, int | None], object]

#: What is done sooner shows nothing.
PATIENCE = 2.0


class _Bar:
    """A bar of tqdm's, once the work is long."""

    def __init__(self, patience: float) -> None:
        self._begun = time.monotonic() + patience
        self._bar: Any = None
        self._doing: tuple[str, int | None] | None = None

    def __call__(self, doing: str, done: int, total: int | None) -> None:
        if time.monotonic() < self._begun:
            return
        if self._doing != (doing, total):
            from tqdm.auto import tqdm

            self.close()
            unit = "" if doing.startswith("fitting") else " rows"
            self._bar = tqdm(total=total, desc=doing, unit=unit, unit_scale=True, leave=False)
            self._doing = (doing, total)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    """Whether a person sees standard error: a terminal, or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def listening(progress: bool | Listener | None) -> Iterator[Listener | None]:
    """Whoever is told: a callable, a bar where tqdm is installed, or nobody."""
    if callable(progress):
        yield progress
        return
    wanted = _is_watched() if progress is None else progress
    if not wanted or importlib.util.find_spec("tqdm") is None:
        yield None
        return
    bar = _Bar(PATIENCE if progress is None else 0.0)
    try:
        yield bar
    finally:
        bar.close()
