"""Votes that lie on many machines, collected with numbers in place of names."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from triview._calls import votes
from triview._core import TriviewError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triview._answers import Votes

_LOG = logging.getLogger("triview")

#: What collecting and solving takes: of memory for whatever number of votes; beside four bytes a column for a vote, as it is read and
#: sorted by item and by annotator; and beside its name, which is held twice, for an item. A million votes on 200,000 items took 148 MiB
#: where this says 166, ten million on two million items 1,058 where it says 1,061.
_ANYWAY = 64 << 20
_A_VOTE = 60
_AN_ITEM = 160


def said_first(what: dict[str, float], columns: int, most_memory: int) -> str:
    """Say what collecting so many votes will take, and refuse it where it is more than allowed."""
    count, items = int(what["votes"]), int(what["items"])
    size = _ANYWAY + count * (4 * columns + _A_VOTE) + items * (2 * what["length"] + _AN_ITEM)
    said = f"collecting {count:,} votes on some {items:,} items takes some {size / 2**20:,.0f} MiB here"
    if size > most_memory:
        raise TriviewError(
            f"{said}, and `most_memory` allows {most_memory / 2**20:,.0f}: draw items evenly and keep all votes on them (such as by a hash "
            "of the item), or allow more"
        )
    _LOG.info("%s", said)
    return said


def packed(table: pa.Table) -> bytes:
    """Give votes as small bytes: each text once, and a number in its place."""
    texts = {name: pc.cast(table.column(name), pa.string()) for name in table.column_names}
    coded = pa.table({name: column.dictionary_encode() for name, column in texts.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, coded.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        # In one piece: dictionaries of many pieces take memory for each when they are put together (5 GB for ten million votes).
        writer.write_table(coded.unify_dictionaries().combine_chunks())
    return bytes(sink.getvalue())


def unpacked(parts: Iterable[bytes]) -> pa.Table:
    """Put the votes of all parts together, in their order."""
    tables = [pa.ipc.open_stream(part).read_all() for part in parts]
    if not any(table.num_rows for table in tables):
        raise TriviewError("there are no votes")
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def crowd(parts: Iterable[bytes], said: str, options: dict[str, Any]) -> Votes:
    """Estimate by votes that were collected."""
    answer = votes(unpacked(parts), **options)
    answer.notes.append(said)
    return answer


def item_column(columns: Sequence[str], named: str | None) -> str:
    """Find the column of items, for what is said; the core finds it for itself."""
    if named is not None and named not in columns:
        raise TriviewError(f"there is no column `{named}`: there are {', '.join(columns)}")
    usual = [name for name in columns if name.lower() in ("item", "item_id", "task", "question", "example")]
    return named or (usual or list(columns))[0]
