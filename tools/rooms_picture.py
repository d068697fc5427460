"""Draws docs/pictures/rooms.svg: the rooms of the package, their folders, what each imports, and two flows.

All of it is read from the source: rooms and their order from `pyproject.toml`, arrows from the imports, sentences from
the docstrings. A flow that names something which is not there, or which its first step does not reach, is an error.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.svg_picture import Picture

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "opensearch_winnow"
IMPORT = re.compile(rf"^\s*(?:from|import|cimport) {PACKAGE}\.([\w.]+)(?: c?import (\w+))?", re.MULTILINE)

# The flow in: from a source to stored records. The flow out: from a question or words to an answer. Each step is
# MODULE:NAME, and what leaves it.
FLOW_IN = (
    ("cli.crawls.index:command", "names of sources"),
    ("operations.crawls.indexing:index_sources", "splits for all processors"),
    ("ingest.sources.reading:read", "pages"),
    ("ingest.extractors:extractor", "text"),
    ("foundation.canonical:canonical", "canonical text"),
    ("cython_core.fingerprints:fingerprints", "fingerprints and sketches"),
    ("mappings.record:Record", "records"),
    ("stores.store_writer:StoreWriter", "stored batches"),
)
FLOW_OUT = (
    ("cli.asking.similar:command", "a page or a text"),
    ("index:Index", "a question with thresholds"),
    ("operations.asking.similar:SimilarPages", "lookups of tokens"),
    ("stores.store:Store", "candidates"),
    ("queries.compare:Comparer", "scores and passages"),
    ("cython_core.overlap:overlap", "shared runs"),
    ("queries.asking.matches:Matches", "matches"),
    ("answers.tables:write_table", "JSON, tables and sentences"),
)

TOP, FLOOR, BOX = 56, 74, 60  # of the floors, in pixels
LEFT, WIDE = 24, 640
LANES = (700, 950)  # where the flows begin
STEP = 27


class Step(NamedTuple):
    number: int
    module: str
    name: str
    leaves: str


def floors() -> list[list[str]]:
    """Return the layers of the import contract, from the roof down."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


@cache
def sources() -> dict[str, str]:
    """Return the source of every module by its name within the package, compiled modules with their declarations."""
    found: dict[str, str] = {}
    rooms = [name for floor in floors() for name in floor]
    for room in rooms:
        single = ROOT / PACKAGE / f"{room}.py"
        files = [single] if single.is_file() else sorted((ROOT / room).rglob("*.p*"))
        for file in files:
            if file.suffix in (".py", ".pyx", ".pxd"):
                parts = file.relative_to(single.parent if file == single else ROOT).with_suffix("").parts
                name = ".".join(parts).removesuffix(".__init__")
                found[name] = found.get(name, "") + file.read_text(encoding="utf-8")
    return found


@cache
def imports() -> dict[str, set[str]]:
    """Return the modules that every module imports, wherever in its file."""
    modules = sources()
    found: dict[str, set[str]] = {}
    for name, text in modules.items():
        named = {f"{base}.{last}" if f"{base}.{last}" in modules else base for base, last in IMPORT.findall(text)}
        found[name] = {each for each in named if each in modules} - {name}
    return found


def room_of(module: str) -> str:
    return module.partition(".")[0]


def room_imports() -> dict[str, set[str]]:
    """Return the rooms that every room imports. An import of a room above is an error."""
    height = {room: -i for i, floor in enumerate(floors()) for room in floor}
    found: dict[str, set[str]] = {room: set() for room in height}
    for module, imported in imports().items():
        for other in imported:
            room, below = room_of(module), room_of(other)
            if room != below:
                if height[below] >= height[room]:
                    raise SystemExit(f"{module} imports {other}, which is not below it")
                found[room].add(below)
    return found


def steps(flow: tuple[tuple[str, str], ...]) -> list[Step]:
    """Return the steps of a flow. Each has to exist, and to be reached from the first by imports."""
    named = [(*at.partition(":")[::2], leaves) for at, leaves in flow]
    found = [Step(number, *each) for number, each in enumerate(named, 1)]
    reached = set(_reached(found[0].module))
    for step in found:
        if step.module not in reached:
            raise SystemExit(
                f"{found[0].module} does not reach {step.module}: the flow in tools/rooms_picture.py is wrong"
            )
        if not re.search(rf"(?:def|class) {step.name}\b", sources()[step.module]):
            raise SystemExit(f"{step.module} has no {step.name}: mend the flow in tools/rooms_picture.py")
    return found


def _reached(module: str) -> Iterator[str]:
    waiting, seen = [module], {module}
    while waiting:
        module = waiting.pop()
        yield module
        fresh = imports()[module] - seen
        seen |= fresh
        waiting += fresh


def sentence(room: str) -> str:
    """Return the first sentence of a room's docstring, up to a colon."""
    written = ast.get_docstring(ast.parse(sources()[room])) or ""
    return re.split(r"(?<=[.:;])\s", written)[0].rstrip(".:;").replace("`", "")


def folders(room: str) -> str:
    """Return the names of the folders in a room."""
    names = sorted(init.parent.name for init in (ROOT / room).glob("*/__init__.py"))
    return " · ".join(names)


def rooms() -> Picture:
    """Draw the rooms, one floor above the other, with the two flows beside them."""
    plan, imported = floors(), room_imports()
    flows = [steps(FLOW_IN), steps(FLOW_OUT)]
    legend = TOP + FLOOR * len(plan) + 30
    picture = Picture(
        1224,
        legend + 24 * max(map(len, flows)) + 40,
        "The rooms of the package, and the two flows through them",
        "From the roof down: "
        + "; ".join(
            " / ".join(filter(None, (f"{room}: {sentence(room)}", folders(room)))) for floor in plan for room in floor
        )
        + ". "
        "A room imports only rooms below it. "
        + " ".join(
            f"The flow {way}: " + ", ".join(f"{each.module} ({each.leaves})" for each in flow) + "."
            for way, flow in zip(("in", "out"), flows, strict=True)
        ),
    )
    height: dict[str, float] = {}
    for level, floor in enumerate(plan):
        y = TOP + FLOOR * level
        wide = (WIDE - 10 * (len(floor) - 1)) / len(floor)
        for at, room in enumerate(floor):
            left = LEFT + at * (wide + 10)
            height[room] = y + BOX / 2
            picture.box(left, y, wide, BOX)
            picture.text(left + 12, y + 20, room, "mono strong")
            picture.text(left + 12, y + 37, sentence(room), "quiet")
            picture.text(left + 12, y + 52, folders(room), "number")
            for to, below in enumerate(plan[level + 1] if level + 1 < len(plan) else ()):
                if below in imported[room]:
                    x = LEFT + WIDE * (to + 0.5) / len(plan[level + 1]) + 24 * (at - (len(floor) - 1) / 2)
                    picture.line(x, y + BOX, x, y + FLOOR - 3, "window")
                    picture.path([(x - 4, y + FLOOR - 7), (x, y + FLOOR - 2), (x + 4, y + FLOOR - 7)], "arrowhead")
    for start, way, flow in zip(LANES, ("the flow in", "the flow out"), flows, strict=True):
        picture.label(start, 36, way)
        points = [(start + STEP * (each.number - 1) + 8.0, height[room_of(each.module)]) for each in flow]
        picture.path(points, "curve" if start == LANES[0] else "link")
        for (at_x, at_y), each in zip(points, flow, strict=True):
            picture.dot(at_x, at_y)
            picture.text(at_x + 5, at_y - 5, str(each.number), "number strong")
        for row, each in enumerate(flow):
            column = LEFT if start == LANES[0] else LEFT + 600
            picture.text(column, legend + 24 * row + 30, f"{each.number}", "strong")
            picture.text(column + 22, legend + 24 * row + 30, f"{each.module}.{each.name}", "mono number")
            picture.text(column + 380, legend + 24 * row + 30, each.leaves, "quiet")
    picture.label(LEFT, legend + 4, "in")
    picture.label(LEFT + 600, legend + 4, "out")
    return picture
