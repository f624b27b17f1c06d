"""Times forward-backward against hmmlearn's score_samples, on one thread.

A million tokens in sequences of 100, ten states, the same emission scores for both. hmmlearn is given them as they are (its
`_compute_log_likelihood` returns its input), so that both do forward-backward in log space and the posteriors of every token, and
nothing else. Both count processor seconds; the fastest of the turns counts, and the log likelihoods must agree.

    python scripts/bench_hmmlearn.py [--tokens N] [--states K] [--length L] [--turns T] [--json]

Exits with 1 when triview takes longer.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402  (the number of threads is read when it is imported)
from hmmlearn.base import BaseHMM  # noqa: E402


class Given(BaseHMM):
    """A model whose emission scores are its data."""

    def _compute_log_likelihood(self, scores):
        return scores

    def _check(self):
        pass


def time_hmmlearn(scores, length, implementation, turns):
    """The fastest turn in processor seconds, and the log likelihood."""
    states = scores.shape[1]
    model = Given(n_components=states, implementation=implementation)
    model.startprob_ = np.full(states, 1 / states)
    model.transmat_ = np.full((states, states), 0.4 / (states - 1))
    np.fill_diagonal(model.transmat_, 0.6)
    lengths = [length] * (len(scores) // length)
    fastest = np.inf
    for _ in range(turns):
        start = time.process_time()
        log_likelihood, _ = model.score_samples(scores, lengths)
        fastest = min(fastest, time.process_time() - start)
    return fastest, log_likelihood


def time_triview(scores, length, turns):
    """The same of the example `forward_backward`."""
    command = ["cargo", "run", "--release", "--quiet", "--package", "triview", "--example", "forward_backward", "--"]
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        scores.astype("<f8").tofile(file)
        file.flush()
        arguments = [file.name, str(scores.shape[1]), str(length), str(turns)]
        run = subprocess.run(command + arguments, check=True, capture_output=True, text=True)
    result = json.loads(run.stdout)
    return result["seconds"], result["log_likelihood"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--states", type=int, default=10)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    tokens = args.tokens // args.length * args.length
    scores = 2.0 * np.random.default_rng(0).standard_normal((tokens, args.states))
    ours, own = time_triview(scores, args.length, args.turns)
    theirs = {}
    for implementation in ("log", "scaling"):
        theirs[implementation], log_likelihood = time_hmmlearn(scores, args.length, implementation, args.turns)
        if not np.isclose(own, log_likelihood, rtol=1e-9):
            sys.exit(f"the log likelihoods differ: {own} and {log_likelihood}")
    result = {"tokens": tokens, "states": args.states, "triview": ours}
    result |= {f"hmmlearn_{name}": seconds for name, seconds in theirs.items()}
    if args.json:
        print(json.dumps(result))
    else:
        print(f"{tokens:,} tokens, {args.states} states, one thread, processor seconds")
        print(f"triview             {ours:.3f}")
        for name, seconds in theirs.items():
            print(f"hmmlearn, {name:8}  {seconds:.3f}  ({seconds / ours:.1f} times)")
    sys.exit(0 if ours <= min(theirs.values()) else 1)


if __name__ == "__main__":
    main()
