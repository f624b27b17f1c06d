"""Answers write pages: the same by a parameter and by a method, whole or not at all."""

import warnings

import pytest
from conftest import by_view, triview

import triview as tv


@pytest.fixture
def asked(table, crowd, chains, scores, model, tmp_path):
    """Every question that has a page."""
    path = tmp_path / "transition.csv"
    path.write_text(chains.transition)
    return {
        "estimate": lambda **files: tv.estimate(table, **files),
        "segments": lambda **files: tv.estimate(table, by="label", **files),
        "labels": lambda **files: tv.estimate(table, label="label", **files),
        "diagnose": lambda **files: tv.diagnose(table, **files),
        "compare": lambda **files: tv.compare(table, label="label", **files),
        "votes": lambda **files: tv.votes(crowd, **files),
        "sequences": lambda **files: tv.sequences(chains.table, transition=path, **files),
        "adapt": lambda **files: tv.adapt(by_view(scores), model=model, **files),
    }


def test_a_parameter_and_a_method_write_the_same(asked, tmp_path):
    by_parameter, by_method, svg = tmp_path / "one.html", tmp_path / "two.html", tmp_path / "picture.svg"
    for name, ask in asked.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tv.UntrustedWarning)
            answer = ask(report=by_parameter, svg=str(svg))
        answer.report(by_method)
        page = by_parameter.read_text(encoding="utf-8")
        assert page == by_method.read_text(encoding="utf-8"), name
        assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
        assert svg.read_text(encoding="utf-8").startswith("<svg ")
        assert ("Not to be trusted</p>" in page) == (not answer.trusted), name
        # Nothing of it is a temporary file's name, so that the same question is the same bytes.
        assert "/triview-" not in page and str(tmp_path) not in page.replace(
            str(tmp_path / "transition.csv"), ""
        ), name


def test_the_page_says_how_it_was_asked(table, tmp_path):
    tv.estimate(table, metrics=True, views=["a", "b", "c"], report=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    said = "triview.estimate(..., metrics=True, views=[&quot;a&quot;, &quot;b&quot;, &quot;c&quot;], level=0.95, seed=0)"
    assert said in page, page[-800:]


def test_the_same_answer_is_the_same_bytes(table, answer, tmp_path):
    tv.estimate(table, threads=1).report(tmp_path / "one.html")
    answer.report(tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_the_command_line_has_the_same_page_but_for_how_it_was_asked(files, tmp_path):
    by_package, by_command = tmp_path / "package.html", tmp_path / "command.html"
    tv.estimate(files / "all.csv", report=by_package)
    triview("estimate", files / "all.csv", "--report", by_command)
    cut = "<dt>command</dt>"
    one, two = (path.read_text(encoding="utf-8").partition(cut) for path in (by_package, by_command))
    assert one[1] == two[1] == cut
    assert one[0] == two[0]


@pytest.mark.parametrize("option", ["report", "svg"])
def test_what_cannot_be_written_is_refused(option, asked, tmp_path):
    for ask in asked.values():
        with pytest.raises(tv.TriviewError, match="it is a folder; name a file in it"):
            ask(**{option: tmp_path})
        with pytest.raises(tv.TriviewError, match="cannot write `.*nowhere"):
            ask(**{option: tmp_path / "nowhere" / "page.html"})


def test_a_method_refuses_it_too_and_leaves_what_was_there(answer, tmp_path):
    with pytest.raises(tv.TriviewError, match="it is a folder; name a file in it"):
        answer.report(tmp_path)
    with pytest.raises(tv.TriviewError, match="cannot write `.*nowhere"):
        answer.report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(TypeError):
        answer.report(7)
    page = tmp_path / "page.html"
    page.write_text("before")
    answer.report(str(page))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(tmp_path.iterdir()) == [page]


def test_moments_have_no_file_to_draw_to_but_a_page(moments, tmp_path):
    with pytest.raises(tv.TriviewError, match="`report` is about rows"):
        tv.estimate(moments, report=tmp_path / "page.html")
    moments.solve().report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 5000
