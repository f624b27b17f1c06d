"""Writes the `valid-*` files beside this script, as other programs write tables: pip install numpy pyarrow safetensors.

Score tables hold five rows of three views and two classes whose score is (7 row + 3 view + class) mod 11. They are
the seeds of the fuzz targets, and `tests/formats` reads them. What the fuzz targets find is kept here too, and so is what
earlier versions wrote (`version-*`).
"""

import json
import math
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
from safetensors.numpy import save_file

HERE = Path(__file__).parent
SCORES = np.array([[[(7 * r + 3 * v + c) % 11 for c in range(2)] for v in range(3)] for r in range(5)])
KEYS = ["p", "q", "p", "q", "p"]


def columns(kind):
    table = {f"{view}:{c}": pa.array(SCORES[:, v, c], kind) for v, view in enumerate("abc") for c in range(2)}
    return pa.table(table | {"key": KEYS})


def lists(kind):
    return pa.table({view: pa.array(SCORES[:, v].tolist(), kind) for v, view in enumerate("abc")})


def parquet():
    folder = HERE / "parquet"
    write = lambda name, table, **options: pq.write_table(
        table, folder / f"valid-{name}.parquet", store_schema=False, **options
    )
    write("float32", columns(pa.float32()), compression="snappy")
    write("float64-v2", columns(pa.float64()), data_page_version="2.0", compression="zstd", use_dictionary=False)
    write("int8", columns(pa.int8()), compression="lz4", row_group_size=2)
    scores = lambda kind: columns(kind).drop_columns("key")
    write("uint64", scores(pa.uint64()), compression="gzip", column_encoding="DELTA_BINARY_PACKED", use_dictionary=False)
    write("split", scores(pa.float32()), compression="none", use_dictionary=False, column_encoding="BYTE_STREAM_SPLIT")
    write("list", lists(pa.list_(pa.float32())), compression="snappy", row_group_size=3)
    write("fixed", lists(pa.list_(pa.float64(), 2)), compression="none")
    plain = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    write("checksum", scores(pa.float64()), **plain)


def ipc():
    folder = HERE / "ipc"
    for name, table in [
        ("float32", columns(pa.float32())),
        ("int16", columns(pa.int16())),
        ("list", lists(pa.list_(pa.float64()))),
        ("large", lists(pa.large_list(pa.float32()))),
        ("fixed", lists(pa.list_(pa.float16(), 2))),
    ]:
        with pa.ipc.new_stream(folder / f"valid-{name}.arrows", table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    # More rows than are looked at for the length of the lists: the batch is read in parts.
    long = pa.table({view: pa.array([[1, 2]] * 1030, pa.list_(pa.int8())) for view in "abc"})
    with pa.ipc.new_stream(folder / "long.arrows", long.schema) as writer:
        writer.write_table(long)
    table = columns(pa.float64()).set_column(6, "key", pa.array(KEYS).dictionary_encode())
    with pa.ipc.new_file(folder / "valid-file.arrow", table.schema) as writer:
        writer.write_table(table)
    for compression in ["lz4", "zstd"]:
        pa.feather.write_feather(columns(pa.float32()), folder / f"valid-{compression}.feather", compression=compression)


def npy():
    folder = HERE / "npy"
    np.save(folder / "valid-f4.npy", SCORES.astype("<f4"))
    np.save(folder / "valid-f8-big.npy", SCORES.astype(">f8"))
    np.save(folder / "valid-u1-fortran.npy", np.asfortranarray(SCORES.astype("u1")))
    with open(folder / "valid-i8-version2.npy", "wb") as file:
        np.lib.format.write_array(file, SCORES.astype("<i8"), version=(2, 0))


def csv():
    folder = HERE / "csv"
    pa.csv.write_csv(columns(pa.float32()), folder / "valid-quoted.csv")
    np.savetxt(folder / "valid-exponents.csv", SCORES.reshape(5, 6), delimiter=",", newline="\r\n", comments="",
               header="\ufeffa:0,a:1,b:0,b:1,c:0,c:1", encoding="utf-8")


def checksum(parts):
    """FNV-1a of 64 bits."""
    total = 0xCBF29CE484222325
    for byte in b"".join(parts):
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return total


def moments():
    """Moments with fitted posteriors and bins, and a plan with plain scores and none."""
    k, q, bins, filled = 2, 2, 3, [0, 5]
    sums = ["offset", "least_loss", "squared_terms", "squared_loss", "squared_loss_squared"]
    family = lambda prefix, d: (
        {f"{prefix}tensor": [d, d, d]}
        | {f"{prefix}gram.{v}": [d, d] for v in range(3)}
        | {f"{prefix}cross.{v}.{a}": [k, d] for v in range(3) for a in range(3) if a != v}
    )
    # In the order of the checksum.
    shapes = {"rows": [1], "missing": [3]} | {name: [1] for name in sums} | family("", q)
    for name, shape in [("posterior", [k, q]), ("pair_features", [k, q]), ("pair_terms", [k, k]), ("posterior_terms", [k, k])]:
        shapes |= {f"{name}.{v}": shape for v in range(3)}
    shapes |= family("bins.", bins)
    shapes |= {f"bins.features.{v}.{a}": [bins, q] for v in range(3) for a in range(3) if a != v}
    schema = {"views": ["a", "b", "c"], "classes": ["0", "1"]}
    basis = {"whitened": {"whitening": [0.1, 1.0, -1.0], "ridges": [0.2, 1.0], "rank": 1}}
    view = {"basis": basis, "weights": [0.0, 1.0, 0.5, 0.0, -1.0, -0.5]}
    posterior = {"kind": "posterior", "way": "sieve", "prior": [0.5, 0.5], "views": [view] * 3}
    plan = {"schema": schema, "partition": [[0], [1], [2]], "loss": "log", "features": posterior}
    plan |= {"absent": [[0.0, 0.0]] * 3, "bins": [{"edges": [[-0.5, 0.5], []], "missing": False}] * 3}
    grouping = {"chosen": "automatic", "together": [], "others": []}
    plan |= {"look": {"grouping": grouping, "settled": {"blend": [0.25] * 4, "variance": 1.0}}}
    envelope = json.dumps({"triview": "moments", "version": 6, "blocks": 64, "filled": filled, "plan": plan})
    cells = {name: struct.pack("<d", 1.0) * (len(filled) * math.prod(shape)) for name, shape in shapes.items()}
    total = struct.pack("<Q", checksum([envelope.encode(), *cells.values()]))
    entries, at = {"__metadata__": {"triview": envelope}}, 0
    for name, data in [("checksum", total), *cells.items()]:
        kind, shape = ("U64", [1]) if name == "checksum" else ("F64", [len(filled), *shapes[name]])
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    data = total + b"".join(cells.values())
    (HERE / "moments" / "valid.moments").write_bytes(struct.pack("<Q", len(text)) + text + data)
    plan |= {"features": {"kind": "scores"}, "bins": [{"edges": [[], []], "missing": False}] * 3}
    plan |= {"look": {"grouping": grouping}}
    # Names in order and no spaces: what the checksum is of.
    total = checksum([json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()])
    envelope = {"triview": "plan", "version": 6, "checksum": f"{total:016x}", "plan": plan}
    (HERE / "moments" / "valid.json").write_text(json.dumps(envelope) + "\n")


def text(path, lines):
    (HERE / path).write_text("\n".join(lines) + "\n")


def model():
    """Two features of the first view, one of the others, two classes."""
    views = [{"name": "a", "features": ["p", "q"]}, {"name": "b", "features": ["p"]}, {"name": "c", "features": ["p"]}]
    envelope = {"triview": "model", "version": 1, "header": {"views": views, "classes": ["x", "y"]}}
    tensors = {}
    for view in views:
        tensors[f"weight.{view['name']}"] = np.ones((2, len(view["features"])))
        tensors[f"bias.{view['name']}"] = np.zeros(2)
    save_file(tensors, HERE / "model" / "valid.safetensors", metadata={"triview": json.dumps(envelope)})


def sequences():
    rows = [(s, p) for s in ["one", "two"] for p in range(3 + len(s) % 2)]
    text("sequences/valid.csv", ["sequence,position,emission:x,emission:y,label"]
         + [f"{s},{p},{0.5 * p},-1e-1,x" for s, p in rows])
    text("transitions/valid.csv", ["state,x,y", "x,-0.5,-1", "y,-inf,0", "initial,-0.7,-0.7"])


def votes():
    text("votes/valid-long.csv", ["item,annotator,vote"] + [f"{i},{a},{'xy'[(i + a) % 2]}" for i in range(4) for a in range(3)])
    text("votes/valid-wide.csv", ["item,ann,ben,cid", "1,x,y,x", "2,,y,y", "3,x,x,"])


def features():
    text("features/valid.csv", ["a:p,a:q,b:p,c:p,label", "1,2,3,4,x", "-1,.5,1e-3,0,y", "1,1,1,1,"])


for write in [parquet, ipc, npy, csv, moments, model, sequences, votes, features]:
    write()
