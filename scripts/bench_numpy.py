"""Times the third-moment pass against the fastest NumPy formulation, on one thread.

T[a, b, c] = sum_i u1[i, a] u2[i, b] u3[i, c] for rows of features in memory, float64. NumPy gets the layout, the
chunk of rows and the formulation that suit it best, with every buffer allocated beforehand; both sides take turns
and the fastest turn of each counts, in processor seconds, which do not run while other programs do. The default
number of rows is 4 MB of features at k = 10; with many more the time of both goes into reading them.

    python scripts/bench_numpy.py [--rows N] [--k K] [--turns T] [--json]

Exits with 1 when the pass is less than twice as fast.
"""

import argparse
import json
import os
import subprocess
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402  (the number of threads is read when it is imported)

CHUNKS = (128, 256, 512, 1024, 4096, 16384)
TARGET = 2.0


def rows_apart(u, chunk):
    """Khatri-Rao product of row-major features, transposed, times the third view."""
    n, k = u[0].shape
    product = np.empty((chunk, k, k))
    out, part = np.zeros((k * k, k)), np.empty((k * k, k))
    for start in range(0, n, chunk):
        u1, u2, u3 = (view[start : start + chunk] for view in u)
        np.multiply(u1[:, :, None], u2[:, None, :], out=product)
        np.matmul(product.reshape(chunk, k * k).T, u3, out=part)
        out += part
    return out.reshape(k, k, k)


def rows_apart_transposed(u, chunk):
    """The same product with the third view on the left."""
    n, k = u[0].shape
    product = np.empty((chunk, k, k))
    out, part = np.zeros((k, k * k)), np.empty((k, k * k))
    for start in range(0, n, chunk):
        u1, u2, u3 = (view[start : start + chunk] for view in u)
        np.multiply(u1[:, :, None], u2[:, None, :], out=product)
        np.matmul(u3.T, product.reshape(chunk, k * k), out=part)
        out += part
    return out.reshape(k, k, k).transpose(1, 2, 0)


def rows_together(u, chunk):
    """Khatri-Rao product of chunks of column-major features times the third view."""
    k = u[0].shape[1]
    product = np.empty((k, k, chunk))
    out, part = np.zeros((k * k, k)), np.empty((k * k, k))
    for u1, u2, u3 in zip(*u):
        np.multiply(u1[:, None, :], u2[None, :, :], out=product)
        np.matmul(product.reshape(k * k, chunk), u3.T, out=part)
        out += part
    return out.reshape(k, k, k)


def rows_together_transposed(u, chunk):
    """The same product with the third view on the left."""
    k = u[0].shape[1]
    product = np.empty((k, k, chunk))
    out, part = np.zeros((k, k * k)), np.empty((k, k * k))
    for u1, u2, u3 in zip(*u):
        np.multiply(u1[:, None, :], u2[None, :, :], out=product)
        np.matmul(u3, product.reshape(k * k, chunk).T, out=part)
        out += part
    return out.reshape(k, k, k).transpose(1, 2, 0)


def column_by_column(u, chunk):
    """One matrix product for each feature of the first view."""
    k = u[0].shape[1]
    product = np.empty((k, chunk))
    out, part = np.zeros((k, k, k)), np.empty((k, k))
    for u1, u2, u3 in zip(*u):
        for a in range(k):
            np.multiply(u1[a], u2, out=product)
            np.matmul(product, u3.T, out=part)
            out[a] += part
    return out


def einsum(u, chunk):
    """What one would write first."""
    return sum(
        np.einsum("ia,ib,ic->abc", *(view[start : start + chunk] for view in u), optimize=True)
        for start in range(0, len(u[0]), chunk)
    )


ROW_MAJOR = (rows_apart, rows_apart_transposed, einsum)
COLUMN_MAJOR = (rows_together, rows_together_transposed, column_by_column)


def build():
    """Builds the bench and finds its program."""
    command = ["cargo", "bench", "-p", "triview", "--bench", "moments", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    messages = (json.loads(line) for line in lines if line.startswith("{"))
    benches = (message for message in messages if message.get("target", {}).get("name") == "moments")
    return next(message["executable"] for message in benches if message.get("executable"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=16_384)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows, k = options.rows - options.rows % max(CHUNKS), options.k
    if rows == 0:
        parser.error(f"--rows must be at least {max(CHUNKS)}")

    program = build()
    rng = np.random.default_rng(0)
    features = [rng.uniform(-1.0, 1.0, (rows, k)) for _ in range(3)]
    sides = {}
    for chunk in CHUNKS:
        columns = [np.ascontiguousarray(u.reshape(-1, chunk, k).transpose(0, 2, 1)) for u in features]
        sides.update({(f.__name__, chunk): (f, features) for f in ROW_MAJOR})
        sides.update({(f.__name__, chunk): (f, columns) for f in COLUMN_MAJOR})

    expected = rows_apart([u[: CHUNKS[0]] for u in features], CHUNKS[0])
    for (name, chunk), (formulation, u) in sides.items():
        if chunk == CHUNKS[0]:
            first = [view[:1] if view.ndim == 3 else view[:chunk] for view in u]
            assert np.allclose(formulation(first, chunk), expected), name

    best = dict.fromkeys(sides, float("inf"))
    ours = float("inf")
    for _ in range(options.turns):
        command = [program, "--json", "--rows", str(rows), "--k", str(k)]
        ours = min(ours, json.loads(subprocess.check_output(command))["seconds"])
        for (name, chunk), (formulation, u) in sides.items():
            start = time.process_time()
            formulation(u, chunk)
            best[name, chunk] = min(best[name, chunk], time.process_time() - start)

    (name, chunk), fastest = min(best.items(), key=lambda item: item[1])
    ratio = fastest / ours
    if options.json:
        sides = {"ours": ours, "numpy": fastest, "formulation": name, "chunk": chunk}
        print(json.dumps({"k": k, "rows": rows, **sides, "ratio": ratio}))
    else:

        def rate(seconds):
            return 2e-9 * k**3 * rows / seconds

        print(f"{rows} rows, k = {k}, one thread, NumPy {np.__version__}\n")
        print("| formulation | chunk | GFLOP/s |\n|---|---|---|")
        for formulation in ROW_MAJOR + COLUMN_MAJOR:
            seconds, rows_of = min((best[formulation.__name__, size], size) for size in CHUNKS)
            print(f"| NumPy, {formulation.__name__} | {rows_of} | {rate(seconds):.1f} |")
        print(f"| the moment pass | 256 | {rate(ours):.1f} |")
        print(f"\n{ratio:.2f} times as fast as the fastest NumPy formulation ({name}, chunks of {chunk} rows)")
    return 0 if ratio >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
