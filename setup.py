"""Names what pyproject.toml cannot: the Cython modules, and where their absolute cimports are found.

Environment: MODULES="overlap shingles" builds these modules of the core only; DEBUG=1 builds with bounds checks and
assertions on; ASAN=1 adds the address and undefined-behaviour sanitizers; PORTABLE=1 leaves the vector loops out, as on
a processor or compiler for which there are none.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tomllib
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("DEBUG", "0") != "0"
ASAN = os.environ.get("ASAN", "0") != "0"
PORTABLE = os.environ.get("PORTABLE", "0") != "0"

# Nothing that could change a result: no -ffast-math, no -march=native.
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if ASAN else []
EXACT = ["-ffp-contract=off"]  # two operations are not made one that rounds once, as some machines can
C_FLAGS = [*(("-O0", "-g", "-UNDEBUG") if DEBUG else ("-O3",)), *EXACT, *SANITIZERS, *["-DPORTABLE"] * PORTABLE]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "autotestdict": False,  # else each module has a __test__ that its stub lacks
    "embedsignature": False,
    "binding": True,
    "auto_pickle": False,  # nothing here is pickled, and it leaves two names in each module
}

# What a build depends on beside its sources. The C files of two flavours never meet in one folder.
FLAVOUR = hashlib.sha256(repr((C_FLAGS, DIRECTIVES, Cython.__version__)).encode()).hexdigest()[:8]

# Relative, because setuptools refuses absolute sources; it runs a setup.py in its own folder.
CORE = Path("cython_core")
NAMESPACE = f"opensearch_winnow.{CORE.name}"
# What Cython needs for memoryviews, once for all modules: each compiles in 2 s instead of 7, to a third of the size.
MEMORYVIEWS = f"{NAMESPACE}._memoryviews"
BUILD = Path("build")
CIMPORTS = BUILD / "cimports"
STAMP = BUILD / "flavour"


def core_modules() -> list[Extension]:
    wanted = os.environ.get("MODULES", "").split()
    # Every header and declaration counts for every module: a rebuild too many costs seconds, one too few a day.
    shared = [path.as_posix() for path in (STAMP, *sorted(CORE.glob("*.h")), *sorted(CORE.glob("*.pxd")))]
    sources = {f"{NAMESPACE}.{pyx.stem}": pyx for pyx in sorted(CORE.glob("*.pyx")) if not wanted or pyx.stem in wanted}
    if sources:
        sources[MEMORYVIEWS] = CORE / "_memoryviews.c"  # Cython writes it, in the build folder
    return [
        Extension(
            name,
            sources=[source.as_posix()],
            depends=shared,
            include_dirs=[CORE.as_posix()],
            extra_compile_args=C_FLAGS,
            extra_link_args=SANITIZERS,
        )
        for name, source in sources.items()
    ]


def stamp_flavour() -> None:
    """Rewrite a file that every module depends on when the flavour changes, so that all are built again."""
    if not STAMP.exists() or STAMP.read_text() != FLAVOUR:
        BUILD.mkdir(exist_ok=True)
        STAMP.write_text(FLAVOUR)


def stage_declarations() -> None:
    """Lay the .pxd files out as the namespace they are cimported from, which must not depend on the symlinks."""
    folder = CIMPORTS.joinpath(*NAMESPACE.split("."))
    folder.mkdir(parents=True, exist_ok=True)
    declared = {pxd.name: pxd for pxd in CORE.glob("*.pxd")}
    for staged in folder.glob("*.pxd"):
        if staged.name not in declared:
            staged.unlink()
    for name, pxd in declared.items():
        shutil.copy2(pxd, folder / name)  # with its time: an unchanged declaration rebuilds nothing
    for package in (folder.parent, folder):
        (package / "__init__.pxd").touch()


class TranslateAndBuild(build_ext):
    """Translate only when modules are built: an sdist and the metadata finalise this command too."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or True  # a job a processor

    def build_extensions(self) -> None:
        stamp_flavour()
        stage_declarations()
        translated = cythonize(
            self.extensions,
            include_path=[CIMPORTS.as_posix()],
            build_dir=(BUILD / f"c-{FLAVOUR}").as_posix(),
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=MEMORYVIEWS,
        )
        for module, c in zip(self.extensions, translated, strict=True):
            module.sources = c.sources
        super().build_extensions()


settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
setup(
    packages=["opensearch_winnow", *settings["package-dir"]],
    ext_modules=core_modules(),
    cmdclass={"build_ext": TranslateAndBuild},
)
