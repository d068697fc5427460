"""Writes requirements/*.txt: every package that the make targets install, with its version and its hashes.

Run by `make lock`. One resolution holds for all supported Pythons and platforms. Each file adds to those before it, so
that `make demo` downloads little; together they are what `make check` needs. Versions stay as they are unless a
requirement has changed; name packages to upgrade, or `all`: python tools/lock.py pytest lxml
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "requirements"
OLDEST_PYTHON = "3.11.5"  # of the patches of 3.11, the first that all packages support
# The extras of each file. `build` is what a build needs, with nothing of the package itself.
LAYERS = {
    "build": [],
    "demo": ["cluster", "web"],
    "image": ["archives", "opensearch", "parquet"],
    "dev": ["dev"],
    "check": ["check"],
}
ENTRY = re.compile(r"^([\w.-]+)==(?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)
HEAD = "# Written by `make lock`, from pyproject.toml. Do not edit.\n"


def main() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build = [*settings["build-system"]["requires"], "build"]
    upgraded = sys.argv[1:]
    written: set[str] = set()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "build.in").write_text("\n".join(build))
        known = "".join(path.read_text() for path in sorted(FOLDER.glob("*.txt")))
        everything = folder / "everything.txt"
        everything.write_text("" if "all" in upgraded else known)
        extras = [extra for layer in LAYERS.values() for extra in layer]
        options = [f"--upgrade-package={each}" for each in upgraded if each != "all"]
        compile_requirements(folder / "build.in", extras, everything, *options)
        for layer in LAYERS:
            own = folder / f"{layer}.txt"
            own.write_text(everything.read_text())
            extras = [extra for each in list(LAYERS)[: list(LAYERS).index(layer) + 1] for extra in LAYERS[each]]
            compile_requirements(folder / "build.in", extras, own)
            needed = {found[1] for found in ENTRY.finditer(own.read_text())}
            # As in the whole: there, a package may be needed on more platforms than in this layer alone.
            new = [found[0] for found in ENTRY.finditer(everything.read_text()) if found[1] in needed - written]
            (FOLDER / f"{layer}.txt").write_text(HEAD + "".join(new))
            written |= needed


def compile_requirements(build: Path, extras: list[str], output: Path, *options: str) -> None:
    """Resolve what a build needs, and these extras of the package, into `output`, whose versions are kept."""
    sources = [build, ROOT / "pyproject.toml"] if extras else [build]
    command: list[str | Path] = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
    command += [f"--python-version={OLDEST_PYTHON}", "--generate-hashes", "--no-header", "--no-annotate"]
    command += ["--no-emit-package=opensearch-winnow", f"--output-file={output}", *options]
    subprocess.run([*command, *(f"--extra={extra}" for extra in extras), *sources], check=True)


if __name__ == "__main__":
    main()
