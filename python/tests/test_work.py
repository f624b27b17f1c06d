"""Long work: Ctrl-C ends it, other threads go on, and who wants to know is told how far it is."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import PACKAGE, bits

import triview as tv
from triview._progress import listening

pytestmark = pytest.mark.filterwarnings("ignore::triview.UntrustedWarning")

#: How long after the signal the work may go on. Half a second is promised; here others may be busy.
SECONDS = 2.0

#: Work of half a minute and more.
LONG = {
    "reading": "triview.plan(sample).accumulator(threads=1).update([scores] * 4000)",
    "fitting": "triview.estimate(wide, threads=1)",
    "latent states": "triview.estimate(table, latent='auto', threads=1)",
}

PROGRAM = """
import numpy, triview, warnings
warnings.simplefilter("ignore")
rng = numpy.random.default_rng(0)
scores = rng.normal(size=(20_000, 3, 10)).astype("f4")
sample = scores[:5000]
wide = rng.normal(size=(20_000, 3, 64)) + 3 * numpy.eye(64)[rng.integers(0, 64, 20_000)][:, None]
table = triview.simulate(preset="subclasses", rows=30_000).table
print("begun", flush=True)
try:
    while True:
        {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
"""


def seconds_after_ctrl_c(work, wait):
    """How long a program goes on after a signal that comes so many seconds after its work has begun."""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-c", PROGRAM.format(work=work)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as program:
        try:
            assert program.stdout.readline() == "begun\n", program.stderr.read()
            time.sleep(wait)
            assert program.poll() is None, program.stderr.read()
            sent = time.monotonic()
            program.send_signal(signal.SIGINT)
            told = program.stdout.readline()
            seconds = time.monotonic() - sent
            _, error = program.communicate(timeout=30)
        finally:
            program.kill()
    assert told == "interrupted\n", error
    assert "KeyboardInterrupt" in error
    assert "panicked" not in error
    return seconds


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("work", LONG)
@pytest.mark.parametrize("wait", [0.05, 0.7, 2.3])
def test_ctrl_c(work, wait):
    assert seconds_after_ctrl_c(LONG[work], wait) < SECONDS


def test_other_threads_go_on():
    """Python's lock is not held meanwhile."""
    table = tv.simulate(preset="six", rows=30_000).table
    counts, done = [], threading.Event()

    def count():
        while not done.is_set():
            counts.append(time.monotonic())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    began = time.monotonic()
    tv.estimate(table, threads=1)
    ended = time.monotonic()
    done.set()
    counter.join()
    during = [moment for moment in counts if began < moment < ended]
    assert ended - began > 0.1, "too short a work to tell"
    # Ten a second would come if the lock were given back only at every check for signals.
    assert len(during) > 100 * (ended - began)


def test_progress_is_told(scores):
    told = []
    thread = threading.get_ident()

    def listen(doing, done, total):
        assert threading.get_ident() == thread
        told.append((doing, done, total))

    tv.estimate([scores] * 60, progress=listen)
    assert told
    for doing, done, total in told:
        assert isinstance(doing, str) and doing
        assert isinstance(done, int) and done >= 0
        assert total is None or (isinstance(total, int) and done <= total)


def test_an_error_of_the_listener_ends_the_work(scores):
    calls = []

    def listen(*told):
        calls.append(told)
        raise KeyError("mine")

    began = time.monotonic()
    with pytest.raises(KeyError, match="mine"):
        tv.estimate([scores] * 200, progress=listen)
    assert len(calls) == 1
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("listener", [lambda: None, lambda doing: None, lambda a, b, c, d: None])
def test_a_listener_of_another_kind_is_a_type_error(scores, listener):
    with pytest.raises(TypeError):
        tv.estimate([scores] * 200, progress=listener)


def test_a_bar(scores, capsys):
    pytest.importorskip("tqdm")
    # How long anything takes is the machine's: which of its works are seen in the bar is not known, but it is seen.
    tv.estimate([scores] * 60, progress=True)
    assert capsys.readouterr().err.strip()
    tv.estimate(scores, progress=False)
    tv.estimate(scores)
    assert capsys.readouterr().err == ""


def test_what_a_bar_counts(capsys):
    pytest.importorskip("tqdm")
    with listening(True) as bar:
        bar("reading", 2_000, 8_000)
        shown = capsys.readouterr().err
        assert "reading" in shown
        assert "rows" in shown
        bar("fitting", 1, 3)
        shown = capsys.readouterr().err
        assert "fitting" in shown
        assert "rows" not in shown.split("fitting")[-1]


def test_no_bar_without_tqdm(scores, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    tv.estimate(scores, progress=True)
    assert capsys.readouterr().err == ""


def test_two_threads_give_the_bits_of_one(scores):
    data = [scores, scores[:2500], scores[::-1], scores.astype(np.float32)]
    expected = [bits(tv.estimate(array, threads=1)) for array in data]
    found = [None] * len(data)

    def ask(at):
        found[at] = bits(tv.estimate(data[at], threads=1))

    for _ in range(3):
        threads = [threading.Thread(target=ask, args=(at,)) for at in range(len(data))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == expected


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same_bits(scores, threads):
    assert bits(tv.estimate(scores, threads=threads)) == bits(tv.estimate(scores))


def test_errors_in_threads_are_their_own(scores):
    """One's bad input does not end another's work."""
    errors, answers = [], []

    def fail():
        try:
            tv.estimate(scores * np.inf)
        except tv.TriviewError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=fail) for _ in range(4)]
    threads += [threading.Thread(target=lambda: answers.append(tv.estimate(scores).risk)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 4
    assert len(set(answers)) == 1


def test_an_accumulator_is_not_shared_by_halves(moments, scores):
    """Of two threads that add to one accumulator each is either heard or told."""
    sums = moments.plan.accumulator()
    heard, refused = [], []

    def add():
        try:
            sums.update(scores)
            heard.append(1)
        except tv.TriviewError:
            refused.append(1)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(heard) + len(refused) == 4
    assert sums.finish().rows == len(heard) * len(scores)
