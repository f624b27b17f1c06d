"""A store of periods, which tables are added to."""

from functools import cache

import numpy as np
import pytest
from conftest import scores_of, write_csv

import triview as tv

ROWS = 2000
DAYS = [f"2026-01-{day:02}" for day in range(5, 13)]


@cache
def population():
    """Rows of all days."""
    return tv.simulate(preset="three", rows=len(DAYS) * ROWS, seed=4).table.to_dict()


def day(at, *, noise=0.0):
    """The rows of a day as columns, the class of each among them."""
    rng = np.random.default_rng(at)
    columns = {name: values[at * ROWS : (at + 1) * ROWS] for name, values in population().items()}
    for name in [name for name in columns if ":" in name]:
        columns[name] = columns[name] + noise * rng.normal(size=ROWS)
    truth = columns.pop("label")
    return {**columns, "when": [f"{DAYS[at]}T12:00:00"] * ROWS, "truth": truth}


def without(columns, *names):
    return {name: values for name, values in columns.items() if name not in names}


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Files of some days, in the last of which the scores say less."""
    folder = tmp_path_factory.mktemp("days")
    noises = [0.0] * 6 + [2.0] * 2
    return [
        write_csv(folder / f"{DAYS[at]}.csv", without(day(at, noise=noise), "truth"))
        for at, noise in enumerate(noises)
    ]


@pytest.fixture
def monitor(tmp_path):
    return tv.Monitor(tmp_path / "model.store", time="when", period="day")


def bits(watched):
    """All but where it is from, and how many files."""
    return {key: value for key, value in watched.to_dict().items() if key not in ("store", "inputs", "files")}


def test_periods_appear(monitor, days):
    for path in days[:3]:
        assert any("2,000 rows added" in note for note in monitor.add(path))
    watched = monitor.show()
    assert [period["period"] for period in watched.periods] == DAYS[:3]
    assert all(period["rows"] == ROWS for period in watched.periods)
    assert watched.current == DAYS[2] and watched.rows == ROWS
    assert watched.trusted and watched.quiet and not watched.worse and watched.since is None
    assert watched.interval.low < watched.risk < watched.interval.high
    assert 0 < watched.error_rate < 1
    assert "3 periods" in repr(watched) and "<" in watched._repr_html_()
    assert sum(watched.class_prior.values()) == pytest.approx(1)


def test_the_same_rows_again_change_nothing(monitor, days):
    monitor.add(days[:2])
    before = monitor.show().to_dict()
    assert all("was added before" in note for note in monitor.add(days[:2]))
    assert monitor.show().to_dict() == before


def test_how_the_first_table_was_read_is_remembered(monitor, days):
    monitor.add(days[0])
    again = tv.Monitor(monitor.store)
    again.add(days[1])
    assert len(again.show().periods) == 2


def test_a_rise_of_the_error_rate_is_seen(monitor, days):
    monitor.add(days)
    watched = monitor.show(baseline=f"{DAYS[0]}..{DAYS[3]}", limit=["worse", "error_rate>0.01", "rows<10"])
    assert watched.worse and watched.factor >= 20 and watched.since in DAYS[4:]
    assert watched.inputs_changed
    assert len(watched.limits) == 2 and not watched.quiet
    assert any(said.startswith("worse") for said in watched.limits)
    assert watched.trusted


def test_a_limit_that_is_not_passed(monitor, days):
    monitor.add(days[:2])
    watched = monitor.show(limit="error_rate>0.9")
    assert watched.limits == [] and watched.quiet


def test_arrays_have_their_times_beside_them(tmp_path):
    table = tv.simulate(preset="three", rows=2 * ROWS).table
    monitor = tv.Monitor(tmp_path / "store", period="day")
    times = np.repeat(np.array(DAYS[:2], dtype="M8[s]"), ROWS)
    monitor.add(scores_of(table), time=times, by=np.tile(["north", "south"], ROWS))
    watched = monitor.show()
    assert [period["period"] for period in watched.periods] == DAYS[:2]
    assert set(watched.segments) == {"north", "south"}
    assert len(watched.segments["north"]["periods"]) == 2


def test_a_frame_and_its_answer_as_a_frame(monitor):
    pandas = pytest.importorskip("pandas")
    monitor.add([pandas.DataFrame(without(day(at), "truth")) for at in range(2)])
    frame = monitor.show().to_frame()
    assert list(frame["period"]) == DAYS[:2] and list(frame["rows"]) == [ROWS, ROWS]
    assert (frame["risk_low"] < frame["risk"]).all()


def test_each_view_by_itself(tmp_path, days):
    monitor = tv.Monitor(tmp_path / "each.store", time="when", period="day", each=True)
    monitor.add(days[:2])
    view = next(iter(monitor.show().each))
    watched = monitor.show(limit=[f"{view}:error_rate>0.01", f"{view}:worse"])
    assert len(watched.each) == 3 and watched.each[view]["view"] == view
    alone = [period["error_rate"]["value"] for period in watched.each[view]["periods"]]
    # One view is wrong more often than all of them.
    assert all(
        own > period["error_rate"]["value"] for own, period in zip(alone, watched.periods, strict=True)
    )
    assert any(said.startswith(f"{view}:error_rate>0.01") for said in watched.limits)
    pandas = pytest.importorskip("pandas")
    frame = watched.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 2 * 4
    assert list(frame[frame["view"] == view]["error_rate"]) == alone
    with pytest.raises(tv.TriviewError, match="there is no view"):
        monitor.show(limit="nobody:worse")


def test_late_labels(monitor, days, tmp_path):
    monitor.add(days[:2])
    columns = day(1)
    some = np.random.default_rng(0).choice(ROWS, 200, replace=False)
    late = {name: [values[at] for at in some] for name, values in columns.items()}
    path = write_csv(tmp_path / "late.csv", late)
    assert any("200 labels added" in note for note in monitor.add_labels(path, label="truth"))
    assert [period["labels"] for period in monitor.show().periods] == [0, 200]


def test_stores_add_up(monitor, days, tmp_path):
    monitor.add(days[0])
    north = tv.Monitor(tmp_path / "north.store", like=monitor.store)
    north.add(days[1:3])
    together = tmp_path / "together.store"
    monitor.export(together)
    tv.Monitor(together).add(days[1:3])
    assert any("2 files" in note for note in monitor.merge(north))
    assert bits(monitor.show()) == bits(tv.Monitor(together).show())
    assert any("known already" in note for note in monitor.merge(north.store))
    assert monitor.merge() == []


def test_answers_stay_when_rows_go(monitor, days):
    monitor.add(days[:3])
    before = monitor.show().periods
    assert any("2 periods" in note for note in monitor.keep_last(1))
    assert monitor.show().periods == before


def test_files_are_written(monitor, days, tmp_path):
    monitor.add(days[:2])
    paths = {name: tmp_path / name for name in ("report", "svg", "csv", "prometheus", "save_plan")}
    watched = monitor.show(**paths, limit="error_rate>0.9")
    assert all(path.stat().st_size for path in paths.values())
    page = paths["report"].read_text(encoding="utf-8")
    assert "triview.Monitor(" in page and ".show(limit=" in page and str(tmp_path / "csv") not in page
    watched.report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    assert len(paths["csv"].read_text(encoding="utf-8").splitlines()) == 3


def test_a_period_that_is_not_to_be_trusted(tmp_path):
    table = tv.simulate(preset="three", rows=2 * ROWS, shared=0.7).table.to_dict()
    path = write_csv(tmp_path / "rows.csv", {**without(table, "label"), "when": [1] * (2 * ROWS)})
    monitor = tv.Monitor(tmp_path / "store", time="when", period=1)
    monitor.add(path)
    with pytest.warns(tv.UntrustedWarning, match="not to be trusted"):
        assert not monitor.show().trusted
    with pytest.raises(tv.UntrustedError) as caught:
        monitor.show(strict=True)
    assert caught.value.answer.alarms


def test_nothing_has_been_added(monitor):
    with pytest.raises(tv.TriviewError, match=r"model\.store"):
        monitor.show()


def test_no_time(days, tmp_path):
    with pytest.raises(tv.TriviewError, match="which column has the times.*time") as caught:
        tv.Monitor(tmp_path / "store").add(days[0])
    assert "--" not in str(caught.value)
    with pytest.raises(tv.TriviewError, match="what are the periods"):
        tv.Monitor(tmp_path / "store", time="when").add(days[0])


def test_an_unknown_column(days, tmp_path):
    with pytest.raises(tv.TriviewError, match="wehn"):
        tv.Monitor(tmp_path / "store", time="wehn", period="day").add(days[0])


def test_a_time_that_is_none(monitor, tmp_path):
    columns = without(day(0), "truth")
    columns["when"] = [*columns["when"][:6], "soon", *columns["when"][7:]]
    with pytest.raises(tv.TriviewError, match=r"(?s)row 7.*soon|soon.*row 7"):
        monitor.add(write_csv(tmp_path / "rows.csv", columns))


@pytest.mark.parametrize("limit", ["error_rate", "eror_rate>0.1", "risk>much", ["worse", "risk>"]])
def test_a_limit_that_is_none(monitor, days, limit):
    monitor.add(days[0])
    with pytest.raises(tv.TriviewError, match="`limit` is"):
        monitor.show(limit=limit)


def test_another_period_than_the_stores(monitor, days):
    monitor.add(days[0])
    with pytest.raises(tv.TriviewError, match="a store has one"):
        tv.Monitor(monitor.store, period="week").add(days[1])


def test_a_store_names_columns(tmp_path):
    with pytest.raises(tv.TriviewError, match="`time` is an array"):
        tv.Monitor(tmp_path / "store", time=np.arange(3))
