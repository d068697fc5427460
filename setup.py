"""Names what pyproject.toml cannot: the Cython modules, and where their absolute cimports are found.

An sdist carries the C that Cython makes of the modules, so a build from an sdist needs a C compiler and no Cython.

Environment: MODULES="overlap shingles" builds these modules of the core only; DEBUG=1 builds with bounds checks and
assertions on; ASAN=1 adds the address and undefined-behaviour sanitizers; PORTABLE=1 leaves the vector loops out, as on
a processor or compiler for which there are none.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tomllib
from multiprocessing import get_start_method
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

DEBUG = os.environ.get("DEBUG", "0") != "0"
ASAN = os.environ.get("ASAN", "0") != "0"
PORTABLE = os.environ.get("PORTABLE", "0") != "0"

# Nothing that could change a result: no -ffast-math, no -march=native.
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if ASAN else []
EXACT = ["-ffp-contract=off"]  # two operations are not made one that rounds once, as some machines can
C_FLAGS = [*(("-O0", "-g", "-UNDEBUG") if DEBUG else ("-O3", "-g0")), *EXACT, *SANITIZERS, *["-DPORTABLE"] * PORTABLE]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "initializedcheck": False,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "autotestdict": False,  # else each module has a __test__ that its stub lacks
    "embedsignature": False,
    "binding": True,
    "auto_pickle": False,  # nothing here is pickled, and it leaves two names in each module
}
CHECKED = DIRECTIVES | {"boundscheck": True, "initializedcheck": True}

# Relative, because setuptools refuses absolute sources; it runs a setup.py in its own folder.
CORE = Path("cython_core")
NAMESPACE = f"opensearch_winnow.{CORE.name}"
# What Cython needs for memoryviews, once for all modules: each compiles in 2 s instead of 7, to a third of the size.
MEMORYVIEWS = f"{NAMESPACE}._memoryviews"
BUILD = Path("build")
CIMPORTS = BUILD / "cimports"
STAMP = BUILD / "flavour"


def digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


# The folder of the C files in an sdist. It is named after all that they are made from: after an edit it is not found.
CYTHON_SOURCES = sorted((*CORE.glob("*.pyx"), *CORE.glob("*.pxd")))
SDIST_C = Path(f"c-{digest(DIRECTIVES, [(path.name, path.read_bytes()) for path in CYTHON_SOURCES])}")
IS_TRANSLATED = SDIST_C.is_dir() and not DEBUG


def core_modules(wanted: list[str]) -> list[Extension]:
    """Return the named modules of the core, or all, and the one that they share."""
    # Every header and declaration counts for every module: a rebuild too many costs seconds, one too few a day.
    shared = [path.as_posix() for path in (STAMP, *sorted(CORE.glob("*.h")), *sorted(CORE.glob("*.pxd")))]
    sources = {f"{NAMESPACE}.{pyx.stem}": pyx for pyx in sorted(CORE.glob("*.pyx")) if not wanted or pyx.stem in wanted}
    if sources:
        sources[MEMORYVIEWS] = CORE / "_memoryviews.c"  # Cython writes it, beside the C files of the others
    return [
        Extension(
            name,
            sources=[(SDIST_C / source.with_suffix(".c") if IS_TRANSLATED else source).as_posix()],
            depends=shared,
            include_dirs=[CORE.as_posix()],
            extra_compile_args=C_FLAGS,
            extra_link_args=SANITIZERS,
        )
        for name, source in sources.items()
    ]


def stamp_flavour(flavour: str) -> None:
    """Rewrite a file that every module depends on when the flavour changes, so that all are built again."""
    if not STAMP.exists() or STAMP.read_text() != flavour:
        BUILD.mkdir(exist_ok=True)
        STAMP.write_text(flavour)


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


def translate(modules: list[Extension], folder: Path, directives: dict[str, object]) -> list[Extension]:
    """Write the C files of the modules below `folder`, and return the modules with these as their sources."""
    from Cython.Build import cythonize  # noqa: PLC0415 (a build from an sdist has no Cython)

    stage_declarations()
    translated: list[Extension] = cythonize(
        modules,
        include_path=[CIMPORTS.as_posix()],
        build_dir=folder.as_posix(),
        compiler_directives=directives,
        shared_utility_qualified_name=MEMORYVIEWS,
        # Side by side it takes a fifth less; a process that is not forked would run this file again.
        nthreads=os.cpu_count() if get_start_method() == "fork" else 0,
    )
    return translated


class TranslateAndBuild(build_ext):
    """Translate only when modules are built: an sdist and the metadata finalise this command too."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or True  # a job a processor

    def build_extensions(self) -> None:
        if IS_TRANSLATED:
            stamp_flavour(digest(C_FLAGS))
        else:
            from Cython import __version__  # noqa: PLC0415

            # What a build depends on beside its sources. The C files of two flavours never meet in one folder.
            directives = CHECKED if DEBUG else DIRECTIVES
            flavour = digest(C_FLAGS, directives, __version__)
            stamp_flavour(flavour)
            translated = translate(self.extensions, BUILD / f"c-{flavour}", directives)
            for module, c in zip(self.extensions, translated, strict=True):
                module.sources = c.sources
        super().build_extensions()


class SdistWithC(sdist):
    """Add the C files of all modules, whatever the environment asks for, and remove Cython from what a build needs."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        if IS_TRANSLATED:
            return  # this is an sdist already, and its C files are sources
        folder = Path(base_dir, SDIST_C.name)
        translate([Extension(module.name, module.sources) for module in core_modules([])], folder, DIRECTIVES)
        settings = Path(base_dir, "pyproject.toml")
        with_cython = settings.read_text(encoding="utf-8")
        without_cython = with_cython.replace(', "Cython>=3.1"]', "]", 1)
        assert without_cython != with_cython, "pyproject.toml: build-system.requires does not end with Cython"
        settings.unlink()  # it may be a hard link to that of the checkout
        settings.write_text(without_cython, encoding="utf-8")


settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
setup(
    packages=["opensearch_winnow", *settings["package-dir"]],
    ext_modules=core_modules(os.environ.get("MODULES", "").split()),
    cmdclass={"build_ext": TranslateAndBuild, "sdist": SdistWithC},
)
