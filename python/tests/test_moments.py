"""Parts that add up: in one process, between processes, and with the command line."""

import pickle
import random

import numpy as np
import pytest
from conftest import ROWS, bits, by_view, triview, write_csv

import triview as tv

pytestmark = pytest.mark.filterwarnings("ignore::triview.UntrustedWarning")


def parts(plan, scores, size):
    """The moments of parts of the rows."""
    return [
        plan.accumulator(starting_at=at).update(scores[at : at + size]).finish()
        for at in range(0, len(scores), size)
    ]


def numbers(value, path=""):
    """All numbers of an answer, by where they are."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from numbers(inner, f"{path}[{at}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def assert_close(one, other):
    ours, theirs = (dict(numbers(bits(answer))) for answer in (one, other))
    assert ours.keys() == theirs.keys()
    for path, value in ours.items():
        assert value == pytest.approx(theirs[path], rel=1e-9, abs=1e-9), path


@pytest.fixture(scope="module")
def plan(scores):
    return tv.plan(scores)


@pytest.fixture(scope="module")
def whole(moments):
    return moments.solve()


def test_plan(plan, scores):
    assert plan.views == ["1", "2", "3"]
    assert plan.classes == ["0", "1", "2"]
    assert plan == tv.plan(scores)
    assert hash(plan) == hash(tv.plan(scores))
    assert plan != tv.plan(scores, loss="hinge")
    assert "3 classes" in repr(plan)


def test_the_whole_is_the_estimate(whole, scores):
    assert whole.risk == pytest.approx(tv.estimate(scores).risk, rel=1e-9)


@pytest.mark.parametrize("size", [7, 500, 1000, 2999])
def test_parts_are_the_whole(plan, scores, whole, size):
    if size == 7:
        sums = plan.accumulator()
        for at in range(0, ROWS, size):
            assert sums.update(scores[at : at + size]) is sums
        merged = sums.finish()
    else:
        merged = sum(parts(plan, scores, size))
    assert merged.rows == ROWS
    assert_close(merged.solve(), whole)


def test_order_does_not_matter(plan, scores):
    pieces = parts(plan, scores, 400)
    expected = sum(pieces).solve()
    shuffled = random.Random(0).sample(pieces, len(pieces))
    assert_close(sum(shuffled).solve(), expected)
    left, right = (pieces[0] + pieces[1]) + pieces[2], pieces[0] + (pieces[1] + pieces[2])
    assert_close(sum(pieces[3:], start=left).solve(), sum(pieces[3:], start=right).solve())


def test_merging_leaves_the_parts_as_they_were(plan, scores):
    first, second = parts(plan, scores, 1500)
    before = first.to_bytes(), second.to_bytes()
    assert (first + second).rows == ROWS
    assert (first.to_bytes(), second.to_bytes()) == before


def test_estimate_takes_moments(plan, scores, moments, whole):
    pieces = parts(plan, scores, 1000)
    assert bits(tv.estimate(moments)) == bits(whole)
    expected = bits(sum(pieces).solve())
    assert bits(tv.estimate(pieces)) == expected
    assert bits(tv.estimate(tuple(pieces))) == expected
    assert bits(tv.estimate(piece for piece in pieces)) == expected


def test_bytes(plan, moments, whole):
    assert tv.Plan.from_bytes(plan.to_bytes()) == plan
    again = tv.Moments.from_bytes(moments.to_bytes())
    assert again == moments
    assert hash(again) == hash(moments)
    assert again.rows == ROWS
    assert again.plan == plan
    assert bits(again.solve()) == bits(whole)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(plan, moments, protocol):
    assert pickle.loads(pickle.dumps(plan, protocol)) == plan
    assert pickle.loads(pickle.dumps(moments, protocol)) == moments


def test_pickles_know_how_tables_are_read(scores):
    chances = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    plan = tv.plan(by_view(chances), input="probability")
    expected = plan.accumulator().update(by_view(chances)).finish()
    assert pickle.loads(pickle.dumps(plan)).accumulator().update(by_view(chances)).finish() == expected
    told = tv.Plan.from_bytes(plan.to_bytes(), input="probability")
    assert told.accumulator().update(by_view(chances)).finish() == expected


def test_files(moments, tmp_path):
    path = tmp_path / "all.moments"
    moments.save(path)
    assert path.read_bytes() == moments.to_bytes()
    assert tv.Moments.load(path) == moments
    assert tv.Moments.load(str(path)) == moments
    assert bits(tv.estimate(path)) == bits(moments.solve())


def test_any_table_is_summed(plan, scores, moments, tmp_path):
    columns = {f"{at + 1}:{name}": scores[:, at, int(name)] for at in range(3) for name in "012"}
    path = write_csv(tmp_path / "scores.csv", columns)
    assert plan.accumulator().update(path).finish() == moments
    assert plan.accumulator().update([scores[:1000], scores[1000:]]).finish() == moments


def test_threads_and_seeds(scores, moments):
    assert tv.plan(scores, threads=1).accumulator(threads=1).update(scores).finish() == moments
    assert bits(moments.solve(threads=1)) == bits(moments.solve(threads=2))
    assert moments.solve(level=0.5).interval.level == 0.5


def test_moments_are_diagnosed(table):
    summed = tv.plan(table).accumulator().update(table).finish()
    assert_close(summed.diagnose(), tv.diagnose(table))
    with pytest.raises(tv.TriviewError):
        summed.diagnose(level=2.0)


def test_no_rows(plan, moments):
    nothing = plan.accumulator().finish()
    assert nothing.rows == 0
    assert_close((moments + nothing).solve(), moments.solve())
    assert "3000 rows" in repr(moments)


# The command line


def test_the_command_line_reads_ours(table, tmp_path):
    parts_ = tv.plan(table).accumulator().update(table).finish()
    parts_.save(tmp_path / "all.moments")
    told = triview("estimate", "all.moments", "--json", cwd=tmp_path).stdout
    assert_close(tv.estimate(tmp_path / "all.moments"), json_of(told))
    assert f"{ROWS:,}" in triview("inspect", "all.moments", cwd=tmp_path).stdout


def test_we_read_the_command_lines(files, table, tmp_path):
    triview("moments", files / "all.csv", "-o", "all.moments", cwd=tmp_path)
    theirs = tv.Moments.load(tmp_path / "all.moments")
    ours = tv.plan(files / "all.csv").accumulator().update(files / "all.csv").finish()
    assert theirs.rows == ROWS
    assert theirs.plan == ours.plan
    assert theirs == ours
    assert_close(theirs.solve(), tv.estimate(tmp_path / "all.moments"))


def test_parts_of_both(files, table, tmp_path):
    triview("moments", files / "first.csv", "-o", "first.moments", cwd=tmp_path)
    first = tv.Moments.load(tmp_path / "first.moments")
    second = first.plan.accumulator(starting_at=1000).update(files / "second.csv").finish()
    second.save(tmp_path / "second.moments")
    told = triview(
        "estimate", "first.moments", "second.moments", "--json", cwd=tmp_path, status=(0, 1)
    ).stdout
    assert_close((first + second).solve(), json_of(told))


def json_of(text):
    import json

    return json.loads(text)
