"""Pages in a real Chromium: scripts off, the network blocked, narrow and wide, light and dark, and on paper."""

import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import by_view, scores_of

import triview as tv

playwright = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).parents[2]
ASKED = (Path(__file__).parent / "in_page.js").read_text(encoding="utf-8")
#: None of these may reach anything but the file itself.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDTHS = (360, 800, 1600)
HOSTILE = [
    "</title><script>document.title='hit';alert(1)</script><img src=x onerror=alert(2)>",
    "\"'&quot; שלום עולם \u202etxt.exe 🐈‍⬛",
    "W" * 200,
    "plain",
]
NAMES = (
    "estimate", "ten", "untrusted", "hostile", "many", "segments", "weeks", "unanswered", "labels", "diagnosis", "comparison", "votes",
    "sequences", "adaptation", "moments",
)  # fmt: skip
LARGEST = 200_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table, scores, labels, dependent, crowd, chains, model, moments):
    """A page of every kind of answer."""
    folder = tmp_path_factory.mktemp("pages")
    ten = tv.simulate(preset="ten", rows=6000, seed=2).table
    four = tv.simulate(preset="three", classes=4, rows=4000).table
    crossed = {view: scores_of(four)[:, at] for at, view in enumerate(["<b>", "צד", "V" * 80])}
    year = tv.simulate(preset="three", rows=20_800, seed=4).table
    days = [np.datetime64("2025-01-06") + np.arange(rows) * 364 // rows for rows in (len(year), len(table))]
    known = [label if at % 20 == 0 else None for at, label in enumerate(labels)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        answers = {
            "estimate": tv.estimate(table, metrics=True),
            "ten": tv.estimate(ten),
            "untrusted": tv.estimate(dependent),
            "hostile": tv.estimate(crossed, classes=HOSTILE, by=np.array(HOSTILE)[np.arange(4000) % 4]),
            "many": tv.votes(tv.simulate(crowd=True, classes=30, rows=900, annotators=60, seed=1).table),
            "segments": tv.estimate(table, by="label"),
            "weeks": tv.estimate(year, by=days[0].astype(str), period="week"),
            "unanswered": tv.estimate(table, by=days[1].astype(str), period="week"),
            "labels": tv.estimate(table, label=known, label_budget=0.05),
            "diagnosis": tv.diagnose(dependent),
            "comparison": tv.compare(table, label="label", source=table, source_label="label"),
            "votes": tv.votes(crowd),
            "sequences": tv.sequences(chains.table, transition=_transition(chains, folder)),
            "adaptation": tv.adapt(by_view(scores), model=model),
            "moments": moments.solve(),
        }
    assert tuple(answers) == NAMES
    for name, answer in answers.items():
        answer.report(folder / f"{name}.html")
        page = f"<!doctype html><meta charset=utf-8><title>cell</title><body>{answer._repr_html_()}"
        (folder / f"{name}.card.html").write_text(page, encoding="utf-8")
    return folder


def _transition(chains, folder):
    path = folder / "transition.csv"
    path.write_text(chains.transition)
    return path


@pytest.fixture(scope="module")
def browser():
    installed = subprocess.run(
        [ROOT / "scripts" / "chromium.sh"], capture_output=True, text=True, check=False
    )
    if installed.returncode != 0:
        pytest.fail(installed.stderr.strip().splitlines()[-1])
    path = installed.stdout.strip().splitlines()[-1]
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Look:
    """A tab without scripts and without network, and all that went on in it."""

    def __init__(self, browser, *, scripts=False):
        self.context = browser.new_context(java_script_enabled=scripts, offline=True)
        self.tab = self.context.new_page()
        self.told, self.requests = [], []
        self.tab.on("console", lambda message: self.told.append(message.text))
        self.tab.on("pageerror", lambda error: self.told.append(str(error)))
        self.tab.on("dialog", lambda dialog: (self.told.append(dialog.message), dialog.dismiss()))
        self.tab.on("request", lambda request: self.requests.append(request.url))

    def at(self, path):
        self.requests.clear()
        self.tab.goto(path.as_uri())
        assert self.requests == [path.as_uri()]
        return self

    def ask(self, width=800, scheme="light", media="screen"):
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(color_scheme=scheme, media=media)
        return self.tab.evaluate(ASKED)

    def open_tables(self):
        self.tab.evaluate(
            "() => document.querySelectorAll('details').forEach((details) => { details.open = true })"
        )


@pytest.fixture
def look(browser):
    look = Look(browser)
    yield look
    look.context.close()
    assert look.told == []


def expect_no_fault(found, what):
    for fault in ("overflow", "contrast", "outside", "overlap"):
        assert found[fault] == [], f"{fault} of {what}"


@pytest.mark.parametrize("name", NAMES)
def test_page(name, folder, look):
    path = folder / f"{name}.html"
    assert path.stat().st_size < LARGEST
    look.at(path).open_tables()
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            found = look.ask(width, scheme)
            expect_no_fault(found, f"{name} at {width}, {scheme}")
            light = scheme == "light"
            assert (found["paper"] > 0.8) == light and (found["ink"] < 0.2) == light
    assert found["headings"][0] == 1 and found["headings"].count(1) == 1
    assert all(
        after <= before + 1 for before, after in zip(found["headings"], found["headings"][1:], strict=False)
    )
    assert found["pictures"], "a page without a picture"
    for picture in found["pictures"]:
        assert picture["role"] == "img" and picture["title"] and picture["desc"], picture
        assert picture["rows"] > 0 and picture["caption"] == picture["title"], picture


@pytest.mark.parametrize("name", NAMES)
def test_pictures_have_names_and_descriptions_for_who_does_not_see_them(name, folder, look):
    look.at(folder / f"{name}.html")
    nodes = look.context.new_cdp_session(look.tab).send("Accessibility.getFullAXTree")["nodes"]
    images = [node for node in nodes if node.get("role", {}).get("value") == "image"]
    assert len(images) == look.tab.evaluate("() => document.querySelectorAll('svg').length")
    for image in images:
        assert image["name"]["value"] and image["description"]["value"], image


@pytest.mark.parametrize("name", NAMES)
def test_paper(name, folder, look):
    look.at(folder / f"{name}.html")
    found = look.ask(800, "dark", "print")
    assert found["paper"] == 1 and found["contrast"] == [], "ink is for white paper, whatever the screen is"
    heights = look.tab.evaluate(
        "() => [...document.querySelectorAll('table')].map((table) => table.getBoundingClientRect().height)"
    )
    assert heights and min(heights) > 20, "tables are printed though nobody opened them"
    assert look.tab.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("name", NAMES)
def test_notebook(name, folder, look):
    look.at(folder / f"{name}.card.html").open_tables()
    for scheme in ("light", "dark"):
        expect_no_fault(look.ask(700, scheme), name)


def test_what_is_looked_for_would_be_seen(tmp_path, look):
    path = tmp_path / "bad.html"
    path.write_text(
        """<!doctype html><meta charset=utf-8><title>bad</title><body style="background:#fff"><p style="color:#999">pale</p>
        <p style="width:3000px">wide</p><svg role="img" viewBox="0 0 100 50"><text x="80" y="20">out of it</text>
        <text x="5" y="40">one</text><text x="8" y="41">other</text></svg>"""
    )
    found = look.at(path).ask(360)
    assert all(found[fault] for fault in ("overflow", "contrast", "outside", "overlap")), found
    assert found["pictures"] == [{"role": "img", "title": None, "desc": None, "rows": 0, "caption": None}]


def test_a_page_runs_nothing_and_fetches_nothing(folder, browser):
    # With scripts on, and names that try: what is put in later is refused too.
    look = Look(browser, scripts=True)
    look.at(folder / "hostile.html")
    assert look.told == [] and look.tab.title() != "hit"
    assert look.tab.evaluate("() => document.scripts.length + document.images.length") == 0
    look.tab.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.hit = true";
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/pixel.png";
            document.body.append(script, image);
        }"""
    )
    look.tab.wait_for_timeout(200)
    assert look.tab.evaluate("() => window.hit") is None
    assert len(look.told) >= 2 and all("Content Security Policy" in told for told in look.told), look.told
    look.context.close()


def test_names_are_shown(folder, look):
    look.at(folder / "hostile.html")
    shown = look.tab.evaluate(
        "() => [...document.querySelectorAll('tbody th')].map((cell) => cell.textContent)"
    )
    for name in HOSTILE:
        assert name.replace("\u202e", "\ufffd") in shown


def test_what_is_not_to_be_trusted_says_so_at_the_top(folder, look):
    look.at(folder / "untrusted.html")
    look.ask(800)
    top = look.tab.evaluate(
        "() => [...document.querySelectorAll('.standing, h1, .doubt')].map((e) => [e.textContent, e.getBoundingClientRect().top])"
    )
    (standing, at), (headline, _), (doubt, below) = top
    assert "Not to be trusted" in standing and at < 200
    assert headline.startswith("Do not rely on these numbers") and "independent" in doubt
    assert below < look.tab.evaluate("() => document.querySelector('.tiles').getBoundingClientRect().top")


@pytest.mark.parametrize("verb", ["estimate", "diagnose", "compare"])
def test_a_picture_alone_follows_light_and_dark(verb, dependent, tmp_path, look):
    path = tmp_path / "picture.svg"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tv.UntrustedWarning)
        getattr(tv, verb)(dependent, svg=path)
    look.at(path)
    shown = {}
    for scheme in ("light", "dark"):
        look.tab.emulate_media(color_scheme=scheme)
        shown[scheme] = look.tab.evaluate("() => getComputedStyle(document.querySelector('rect.p')).fill")
    assert shown == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 27, 34)"}
    boxes = look.tab.evaluate(
        """() => [...document.querySelectorAll("text")].map((text) => {
            const box = text.getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom];
        })"""
    )
    width, height = (
        int(look.tab.evaluate(f"() => document.documentElement.getAttribute('{side}')"))
        for side in ("width", "height")
    )
    assert all(
        left >= 0 and top >= 0 and right <= width and bottom <= height for left, top, right, bottom in boxes
    )
