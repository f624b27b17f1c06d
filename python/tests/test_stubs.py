"""The stubs say what is compiled, and importing the package imports nothing else."""

import ast
import inspect

from conftest import PACKAGE, run

import triview as tv
from triview import _core

STUBS = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))


def public(names):
    """What is no part of every object, class or module."""
    common = {
        *dir(object),
        *dir(type("Own", (), {})),
        *dir(Exception),
        "__text_signature__",
        "__loader__",
        "__spec__",
        "__file__",
    }
    return {name for name in names if name not in common} | ({"__len__", "__arrow_c_stream__"} & set(names))


def declared(body):
    """What stubs declare: functions, classes and values by name."""
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and not ast.unparse(node.annotation).endswith("TypeAlias"):
            found[node.target.id] = node
    return found


def decorated(node, name):
    return any(ast.unparse(decorator) == name for decorator in node.decorator_list)


def parameters_of_stub(node):
    """Names, kinds and defaults, without what a method is bound to."""
    arguments = node.args
    positional = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    defaults = dict(
        zip(reversed(positional), [ast.literal_eval(d) for d in reversed(arguments.defaults)], strict=False)
    )
    keywords = {
        argument.arg: ast.literal_eval(default) if default is not None else inspect.Parameter.empty
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    if positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    return [(name, defaults.get(name, inspect.Parameter.empty)) for name in positional], keywords


def parameters_of_compiled(function):
    found = inspect.signature(function).parameters.values()
    positional = [
        it
        for it in found
        if it.kind is not inspect.Parameter.KEYWORD_ONLY and it.name not in ("self", "cls", "type")
    ]
    keywords = {it.name: it.default for it in found if it.kind is inspect.Parameter.KEYWORD_ONLY}
    return [(it.name, it.default) for it in positional], keywords


def test_same_names():
    assert set(declared(STUBS.body)) == {*_core.__all__, "__version__"}


def test_everything_compiled_is_in_all():
    assert {name for name in dir(_core) if not name.startswith("_")} <= set(_core.__all__)


def test_same_functions():
    for name, node in declared(STUBS.body).items():
        if isinstance(node, ast.FunctionDef):
            assert parameters_of_stub(node) == parameters_of_compiled(getattr(_core, name)), name


def test_same_classes():
    for name, node in declared(STUBS.body).items():
        if isinstance(node, ast.ClassDef) and decorated(node, "final"):
            assert set(declared(node.body)) == public(dir(getattr(_core, name))), name


def test_same_methods():
    checked = 0
    for name, node in declared(STUBS.body).items():
        if not (isinstance(node, ast.ClassDef) and decorated(node, "final")):
            continue
        compiled = getattr(_core, name)
        for method, stub in declared(node.body).items():
            held = inspect.getattr_static(compiled, method)
            if decorated(stub, "property"):
                assert inspect.isgetsetdescriptor(held), (name, method)
                continue
            assert decorated(stub, "staticmethod") == isinstance(held, staticmethod), (name, method)
            assert decorated(stub, "classmethod") == (type(held).__name__ == "classmethod_descriptor"), (
                name,
                method,
            )
            if method != "__len__":
                assert parameters_of_stub(stub) == parameters_of_compiled(getattr(compiled, method)), (
                    name,
                    method,
                )
                checked += 1
    assert checked > 10


def test_classes_cannot_be_made_or_derived_from():
    for name in ("Outcome", "Plan", "Accumulator", "Moments", "Records"):
        kind = getattr(_core, name)
        for make in (kind, lambda kind=kind: type("Own", (kind,), {})):
            try:
                make()
            except TypeError:
                continue
            raise AssertionError(f"{name} can be made")


def test_the_error_is_a_value_error():
    assert issubclass(tv.TriviewError, ValueError)
    assert tv.TriviewError is _core.TriviewError


def test_all_is_complete():
    own = {
        name
        for name, value in vars(tv).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", "").startswith("triview")
    }
    assert own | {"__version__"} == set(tv.__all__)
    assert list(tv.__all__) == sorted(tv.__all__)
    for name in tv.__all__:
        assert name == "__version__" or getattr(tv, name).__doc__, f"{name} has no doc"


def test_everything_public_has_a_doc():
    for name in tv.__all__:
        held = getattr(tv, name)
        if inspect.isclass(held) and held.__module__.startswith("triview."):
            for member, value in vars(held).items():
                if not member.startswith("_") and (
                    inspect.isfunction(value) or isinstance(value, property | classmethod)
                ):
                    assert inspect.getdoc(getattr(held, member)), f"{name}.{member} has no doc"


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_importing_imports_nothing_else():
    others = ["pandas", "pyarrow", "sklearn", "scipy", "polars", "matplotlib", "tqdm", "duckdb"]
    code = f"import sys, triview; print([name for name in {others} if name in sys.modules])"
    assert run("-c", code).stdout.strip() == "[]"


def test_answering_imports_nothing_else():
    code = """
import sys, numpy, triview
table = triview.simulate(preset="three", rows=3000).table
answer = triview.estimate(table)
answer._repr_html_(), str(answer), triview.label(table), triview.plan(table)
print([name for name in ("pandas", "pyarrow", "sklearn", "scipy", "polars", "matplotlib", "tqdm") if name in sys.modules])
"""
    assert run("-c", code).stdout.strip() == "[]"
