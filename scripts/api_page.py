"""Writes docs/api.md from the package's docstrings: api_page.py [--check].

With --check nothing is written, and the exit status is 1 where the page is not what would be written.
"""

import inspect
import sys
from pathlib import Path

import triview as tv
import triview.dask
import triview.sklearn
import triview.spark

#: Classes that users make themselves.
MADE = ("tv.Model", "tv.Monitor")
PAGE = Path(__file__).parent.parent / "docs" / "api.md"


def title(name, thing):
    """Its signature, in a line of code."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return f"`{name}`"
    shown, keywords = [], False
    for parameter in parameters:
        if parameter.name == "self" or parameter.name.startswith("_"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            shown.append("*")
            keywords = True
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        shown.append({parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + parameter.name + default)
    return f"`{name}({', '.join(shown)})`"


def members(thing):
    """Public methods and properties that a class has of its own, in their order."""
    for name, member in vars(thing).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        text = inspect.getdoc(function)
        if name.startswith("_") or not text or not (callable(function) or isinstance(function, property)):
            continue
        yield title(name, function) if callable(function) else f"`{name}`", text.splitlines()[0]


def section(name, thing):
    """What is said of one name."""
    first, _, rest = (inspect.getdoc(thing) or "").partition("\n")
    lines = [f"## {name}", "", first]
    # Of what answers come as it does not matter how it is made.
    if inspect.isfunction(thing) or name in MADE or name.startswith("triview."):
        lines += ["", "```python notest", title(name, thing).strip("`"), "```"]
    if rest.strip():
        lines += ["", "```text", rest.strip(), "```"]
    if inspect.isclass(thing):
        lines += ["", *(f"- {head}: {text}" for head, text in members(thing))]
    return "\n".join(lines).rstrip() + "\n"


def page():
    """The whole page."""
    head = "# The Python package, name by name\n\nMade from the docstrings by `scripts/api_page.py`; [the tutorial](python.md) is the way in.\n"
    # Functions first: they are what is called.
    names = sorted((name for name in tv.__all__ if name != "__version__"), key=lambda name: (not name.islower(), name))
    own = [section(f"tv.{name}", getattr(tv, name)) for name in names]
    public = [name for name, thing in vars(triview.sklearn).items() if getattr(thing, "__module__", "") == "triview.sklearn"]
    learn = [section(f"triview.sklearn.{name}", getattr(triview.sklearn, name)) for name in public if not name.startswith("_")]
    engines = [
        section(f"{module.__name__}.{name}", getattr(module, name)) for module in (triview.spark, triview.dask) for name in module.__all__
    ]
    return "\n".join([head, *own, *learn, *engines])


def main():
    """Write the page, or compare it."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/api.md is not what scripts/api_page.py writes: run it")


main()
