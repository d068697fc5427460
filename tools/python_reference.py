"""Writes docs/python.md: every public name with its signature, its docstring, and the comments beside its fields.

`make docs` runs it; tests/test_docs_python.py fails when the page is out of date. It reads the source instead of
inspecting objects, so that the page is the same on every Python and includes comments.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from tokenize import COMMENT, generate_tokens
from typing import Any, cast

from opensearch_winnow.foundation.answers import inlined, key, listed
from opensearch_winnow.foundation.keywords import takes, with_options
from opensearch_winnow.foundation.options import option

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"
MAX_SIGNATURE_CHARS = 100  # a longer signature has one parameter per line
BEGIN = "<!-- Below is written by tools/python_reference.py. -->\n"

Function = ast.FunctionDef | ast.AsyncFunctionDef

# The sections of the page: the module that the names are imported from, and their order.
SECTIONS = {
    "The index": ("", ["Index", "Page", "Filters"]),
    "Two texts": ("", ["compare", "fingerprint", "Scheme"]),
    "Sets and data sets": (
        "",
        ["pairs", "deduplicate", "deduplicate_rows", "repeated_passages", "contaminated"],
    ),
    "An index of your own": ("", ["attach", "detach"]),
    "Errors": (
        "",
        [
            *("WinnowError", "MissingExtraError", "SchemeError", "QuestionError"),
            *("StoreError", "FileError", "RecordsError"),
        ],
    ),
    "Parts for clients of your own": ("clients", []),
    "Batch work": ("batch", []),
    "Types": ("types", []),
}


class Source:
    """The source of a module: its classes, functions and comments, and the values of its constants."""

    def __init__(self, module: str) -> None:
        loaded = import_module(module)
        self.constants = vars(loaded)
        text = _text(Path(str(loaded.__file__)))
        self.nodes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef | Function)}
        self.comments = {
            token.start[0]: token.string.lstrip("# ")
            for token in generate_tokens(StringIO(text).readline)
            if token.type == COMMENT and not token.line.lstrip().startswith("#")
        }


def _text(file: Path) -> str:
    """Return the source of a module; of a compiled one, that of its stub."""
    source_file = file if file.suffix == ".py" else file.with_name(file.name.partition(".")[0] + ".pyi")
    return source_file.read_text(encoding="utf-8")


@cache
def source(module: str) -> Source:
    return Source(module)


def describe(public: Any) -> Iterator[str]:
    """Yield the lines of the page about a class or a function."""
    module = source(public.__module__)
    node = module.nodes[public.__name__]
    yield f"### {node.name}\n"
    if public.__module__.startswith("opensearch_winnow.cython_core."):  # its docstrings are compiled
        yield f"{inspect.getdoc(public)}\n"
        return
    if isinstance(node, Function):
        yield from _function(node, node.name, module)
        return
    fields = [
        each
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id != "_"
    ]
    if bases := [ast.unparse(base) for base in node.bases if ast.unparse(base).endswith("Error")]:
        yield f"A `{bases[0]}`.\n"
    yield from _docstring(node)
    if fields:
        yield "| field | type | |\n|---|---|---|"
        yield from (_field(each, module) for each in fields)
        yield ""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
            yield from _method(method, node.name, module)


def _method(method: ast.FunctionDef, owner: str, module: Source) -> Iterator[str]:
    kinds = [ast.unparse(each) for each in method.decorator_list]
    if "property" in kinds:
        yield f"**`.{method.name}`** (`{ast.unparse(method.returns or ast.Constant(None))}`)\n"
        yield from _docstring(method)
    else:
        before = owner if "classmethod" in kinds else ""
        yield from _function(method, f"{before}.{method.name}", module)


def _field(each: ast.AnnAssign, module: Source) -> str:
    name = ast.unparse(each.target)
    default = "" if each.value is None else _default(each.value, module)
    annotation, said = _annotated(each.annotation)
    kind = ast.unparse(annotation).replace("|", "\\|")
    comment = module.comments.get(each.end_lineno or 0, "") or said or _sentence(each.value)
    return f"| `{name}{default}` | `{kind}` | {comment} |"


def _annotated(annotation: ast.expr) -> tuple[ast.expr, str]:
    """Return the type of a field, and what `Annotated[type, "A sentence."]` says of it."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        assert isinstance(annotation.slice, ast.Tuple), ast.unparse(annotation)
        kind, *said = annotation.slice.elts
        return kind, " ".join(str(each.value) for each in said if isinstance(each, ast.Constant))
    return annotation, ""


def _sentence(value: ast.expr | None) -> str:
    """Return what the declaration of a key or an option says of it; empty if the field is not declared so."""
    name = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    place = {key.__name__: 0, listed.__name__: 0, option.__name__: 2}.get(name)
    said = value.args[place] if isinstance(value, ast.Call) and place is not None else None
    return str(said.value) if isinstance(said, ast.Constant) else ""


def _default(value: ast.expr, module: Source) -> str:
    if isinstance(value, ast.Call) and ast.unparse(value.func) in (listed.__name__, inlined.__name__):
        return ""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == key.__name__:
        defaults = [f" = {_written(each.value, module)}" for each in value.keywords if each.arg == "default"]
        return defaults[0] if defaults else " = …" if "default_factory" in [each.arg for each in value.keywords] else ""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        arguments = {each.arg: each.value for each in value.keywords}
        return f" = {ast.unparse(arguments['default'])}" if "default" in arguments else " = …"
    if isinstance(value, ast.Call) and ast.unparse(value.func) == option.__name__:
        return f" = {ast.unparse(value.args[0])}"
    return f" = {ast.unparse(value)}"


def _function(node: Function, name: str, module: Source) -> Iterator[str]:
    parameters = list(_parameters(node.args, module))
    if declared := _declared(node, module):  # the last argument is an object of this class, or the values of its fields
        parameters = [*parameters[:-1], *_declared_parameters(declared)]
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    called = f"await {name}" if isinstance(node, ast.AsyncFunctionDef) else name
    signature = f"{called}({', '.join(parameters)}){returns}"
    if len(signature) > MAX_SIGNATURE_CHARS:
        signature = "\n".join([f"{called}(", *(f"    {each}," for each in parameters), f"){returns}"])
    yield f"```text\n{signature}\n```\n"
    yield from _docstring(node)


def _declared(node: Function, module: Source) -> Callable[..., Any] | None:
    """Return the class that declares the keyword arguments of a method, if one does."""
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and ast.unparse(each.func) in (takes.__name__, with_options.__name__):
            return cast("Callable[..., Any]", module.constants[ast.unparse(each.args[0])])
    return None


def _declared_parameters(declared: Callable[..., Any]) -> Iterator[str]:
    star = "*"
    for each in inspect.signature(declared).parameters.values():
        if each.kind is each.KEYWORD_ONLY and star:
            yield star
            star = ""
        if each.default is each.empty:
            yield f"{each.name}: {each.annotation}"
            continue
        kind = type(each.default)
        default = f"{kind.__name__}()" if is_dataclass(kind) and each.default == kind() else repr(each.default)
        default = "…" if inspect.isfunction(each.default) else default
        yield f"{each.name}: {each.annotation} = {default}".replace("'", '"')


def _parameters(arguments: ast.arguments, module: Source) -> Iterator[str]:
    required = len(arguments.args) - len(arguments.defaults)
    for each, default in zip(arguments.args, [*[None] * required, *arguments.defaults], strict=True):
        if each.arg not in ("self", "cls"):
            yield _parameter(each, default, module)
    if arguments.kwonlyargs:
        yield "*"
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, default, module)
    if arguments.kwarg:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _parameter(each: ast.arg, default: ast.expr | None, module: Source) -> str:
    if default is None:
        return ast.unparse(each)
    return f"{ast.unparse(each)} = {_written(default, module)}".replace("'", '"')


def _written(default: ast.expr, module: Source) -> str:
    """Return a default as it is written; of a constant, its value."""
    value = module.constants[default.id] if isinstance(default, ast.Name) else None
    return ast.unparse(default) if value is None or inspect.isfunction(value) else repr(value)


def _docstring(node: ast.ClassDef | Function) -> Iterator[str]:
    docstring = ast.get_docstring(node)
    if docstring is None:
        raise SystemExit(f"{node.name} (line {node.lineno}) has no docstring; write one for docs/python.md")
    yield f"{docstring}\n"


def updated(page: str) -> str:
    """Return `page` with its generated part written anew. The part above it stays as it is."""
    lines: list[str] = []
    for title, (module, names) in SECTIONS.items():
        owner = import_module(f"opensearch_winnow.{module}" if module else "opensearch_winnow")
        lines.append(f"## {title}\n")
        if module:
            lines.append(f"{inspect.getdoc(owner)}\n\nImport them from `opensearch_winnow.{module}`.\n")
        for name in names or sorted(owner.__all__, key=str.casefold):
            lines += describe(getattr(owner, name))
    return page.partition(BEGIN)[0] + BEGIN + "\n" + "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{PAGE}\n")
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
