"""Defines what pyproject.toml cannot: the Cython modules, and where their absolute cimports are found.

An sdist includes the C files that Cython generates, so a build from an sdist needs a C compiler but no Cython. The same
sources make the same sdist, byte by byte. A wheel includes a list of its parts (an SBOM, see PEP 770).

Environment variables: MODULES="overlap shingles" builds only these modules of the core. DEBUG=1 builds with bounds
checks and assertions. ASAN=1 adds the address and undefined-behaviour sanitizers, and FUZZ=1 (with clang) also counters
of the branches taken. PORTABLE=1 builds without vector loops, as on processors and compilers that have none. BUILD
names the folder of intermediate files, so that a build of another flavour leaves the usual one as it is.
SOURCE_DATE_EPOCH is the time of all files in an sdist.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import tarfile
import tomllib
from multiprocessing import get_start_method
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

DEBUG = os.environ.get("DEBUG", "0") != "0"
ASAN = os.environ.get("ASAN", "0") != "0"
FUZZ = os.environ.get("FUZZ", "0") != "0"
PORTABLE = os.environ.get("PORTABLE", "0") != "0"

# No flag may change a result: no -ffast-math, no -march=native.
SANITIZERS = []
if ASAN or FUZZ:
    SANITIZERS = [f"-fsanitize=address,undefined{',fuzzer-no-link' * FUZZ}", "-fno-sanitize-recover=undefined"]
EXACT = ["-ffp-contract=off"]  # no fused multiply-add: it rounds once instead of twice, and not all machines have it
C_FLAGS = [*(("-O0", "-g", "-UNDEBUG") if DEBUG else ("-O3", "-g0")), *EXACT, *SANITIZERS, *["-DPORTABLE"] * PORTABLE]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "initializedcheck": False,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "autotestdict": False,  # it would add __test__ to each module, which the stubs lack
    "embedsignature": False,
    "binding": True,
    "auto_pickle": False,  # nothing here is pickled, and it would add two names to each module
}
CHECKED = DIRECTIVES | {"boundscheck": True, "initializedcheck": True}

# Relative, because setuptools refuses absolute paths of sources. It runs setup.py in the folder of the file.
CORE = Path("cython_core")
NAMESPACE = f"opensearch_winnow.{CORE.name}"
# Cython's code for memoryviews, shared by all modules: each compiles in 2 s instead of 7, to a third of the size.
MEMORYVIEWS = f"{NAMESPACE}._memoryviews"
BUILD = Path(os.environ.get("BUILD", "build"))
CIMPORTS = BUILD / "cimports"
STAMP = BUILD / "flavour"
SDIST_TIME = int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))  # otherwise the start of 2026
FOR_DEVELOPERS = {"all", "bench", "check", "core-tests", "dev", "fuzz"}  # extras that no installation of a user has


def digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


# The folder of the C files in an sdist. Its name has a digest of their sources, so that stale C files are not found.
CYTHON_SOURCES = sorted((*CORE.glob("*.pyx"), *CORE.glob("*.pxd")))
SDIST_C = Path(f"c-{digest(DIRECTIVES, [(path.name, path.read_bytes()) for path in CYTHON_SOURCES])}")
IS_TRANSLATED = SDIST_C.is_dir() and not DEBUG


def core_modules(wanted: list[str]) -> list[Extension]:
    """Return the modules of the core named in `wanted`, or all if it is empty, and the module that they share."""
    # Every module depends on every header and declaration: a needless rebuild costs seconds, a missing one a day.
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
    """Rewrite the file STAMP if the flavour has changed. Every module depends on it, so all are rebuilt."""
    if not STAMP.exists() or STAMP.read_text() != flavour:
        BUILD.mkdir(parents=True, exist_ok=True)
        STAMP.write_text(flavour)


def stage_declarations() -> None:
    """Copy the .pxd files into folders named like their package, so that cimports do not need the symlinks."""
    folder = CIMPORTS.joinpath(*NAMESPACE.split("."))
    folder.mkdir(parents=True, exist_ok=True)
    declared = {pxd.name: pxd for pxd in CORE.glob("*.pxd")}
    for staged in folder.glob("*.pxd"):
        if staged.name not in declared:
            staged.unlink()
    for name, pxd in declared.items():
        shutil.copy2(pxd, folder / name)  # keeps the time of change, so that an unchanged file rebuilds nothing
    for package in (folder.parent, folder):
        (package / "__init__.pxd").touch()


def translate(modules: list[Extension], folder: Path, directives: dict[str, object]) -> list[Extension]:
    """Write the C files of `modules` below `folder`, and return the modules with the C files as sources."""
    from Cython.Build import cythonize  # noqa: PLC0415 (a build from an sdist has no Cython)

    stage_declarations()
    translated: list[Extension] = cythonize(
        modules,
        include_path=[CIMPORTS.as_posix()],
        build_dir=folder.as_posix(),
        compiler_directives=directives,
        shared_utility_qualified_name=MEMORYVIEWS,
        # In parallel it takes a fifth less time. A process that is spawned, not forked, would run this file again.
        nthreads=os.cpu_count() if get_start_method() == "fork" else 0,
    )
    return translated


class TranslateAndBuild(build_ext):
    """Translates to C only when modules are built, because an sdist and the metadata finalise this command too."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or True  # one job per processor

    def build_extensions(self) -> None:
        if IS_TRANSLATED:
            stamp_flavour(digest(C_FLAGS))
        else:
            from Cython import __version__  # noqa: PLC0415

            # The flavour is what a build depends on besides its sources. Each has its own folder of C files.
            directives = CHECKED if DEBUG else DIRECTIVES
            flavour = digest(C_FLAGS, directives, __version__)
            stamp_flavour(flavour)
            translated = translate(self.extensions, BUILD / f"c-{flavour}", directives)
            for module, c in zip(self.extensions, translated, strict=True):
                module.sources = c.sources
        super().build_extensions()


class SdistWithC(sdist):
    """Adds the C files of all modules, whatever MODULES and DEBUG say, and drops Cython from the build requirements."""

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
        settings.unlink()  # it may be a hard link to the file in the checkout
        settings.write_text(without_cython, encoding="utf-8")

    def make_archive(
        self,
        base_name: str,
        format: str,  # noqa: A002
        root_dir: str | None = None,
        base_dir: str | None = None,
        owner: str | None = None,
        group: str | None = None,
    ) -> str:
        """Write a tar file that has no trace of the machine: names in order, no owners, and one time for all."""
        if format != "gztar" or base_dir is None:
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        made = f"{base_name}.tar.gz"
        Path(made).parent.mkdir(parents=True, exist_ok=True)
        with (
            Path(made).open("wb") as file,
            gzip.GzipFile("", "wb", 9, file, mtime=SDIST_TIME) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in [Path(base_dir), *sorted(Path(base_dir).rglob("*"))]:
                archive.add(path, path.as_posix(), recursive=False, filter=without_traces)
        return made


def without_traces(member: tarfile.TarInfo) -> tarfile.TarInfo:
    executable = member.isdir() or member.mode & 0o100
    return member.replace(
        deep=False, mtime=SDIST_TIME, mode=0o755 if executable else 0o644, uid=0, gid=0, uname="", gname=""
    )


class WheelWithSbom(bdist_wheel):
    """Adds the list of what the package is made of, and of what it needs, where PEP 770 wants it."""

    def write_wheelfile(self, wheelfile_base: str, *arguments: Any, **options: Any) -> None:
        super().write_wheelfile(wheelfile_base, *arguments, **options)
        folder = Path(wheelfile_base, "sboms")
        folder.mkdir()
        text = json.dumps(bill_of_materials(self.distribution), indent=1)
        (folder / "opensearch-winnow.cdx.json").write_text(f"{text}\n", encoding="utf-8")


def bill_of_materials(package: Any) -> dict[str, Any]:
    """Return the SBOM in the format of CycloneDX. What is compiled in has a version, what is needed a requirement."""
    reference = f"pkg:pypi/opensearch-winnow@{package.get_version()}"
    compiled_in = [
        component("library", "Cython", "Apache-2.0", cython_version(), purl=f"pkg:pypi/cython@{cython_version()}"),
        component("data", "Unicode Character Database", "Unicode-3.0", unicode_version()),
        component("data", "confusables of UTS #39", "Unicode-3.0", unicode_version()),
        component("data", "words of the standard analyzer of OpenSearch", "Apache-2.0"),
    ]
    extras = {name: extra for name, extra in package.extras_require.items() if name not in FOR_DEVELOPERS}
    optional = dict.fromkeys(line for name in sorted(extras) for line in extras[name])
    needed = {**dict.fromkeys(package.install_requires, "required"), **dict.fromkeys(optional, "optional")}
    by_name: dict[str, dict[str, Any]] = {}
    for line, scope in needed.items():
        name = re.split(r"[^\w.-]", line)[0].lower().replace("_", "-")
        if name == "opensearch-winnow":
            continue  # an extra that consists of others
        found = by_name.setdefault(name, component("library", name, purl=f"pkg:pypi/{name}") | {"scope": scope})
        found.setdefault("properties", []).append({"name": "opensearch-winnow:requirement", "value": line})
    components = [*compiled_in, *by_name.values()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, reference)}",
        "version": 1,
        "metadata": {
            "component": component("application", "opensearch-winnow", "Apache-2.0", package.get_version(), reference)
        },
        "components": components,
        "dependencies": [{"ref": reference, "dependsOn": [each["bom-ref"] for each in components]}],
    }


def component(kind: str, name: str, licence: str = "", version: str = "", purl: str = "") -> dict[str, Any]:
    return {
        "type": kind,
        "bom-ref": purl or name,
        "name": name,
        **({"version": version} if version else {}),
        **({"purl": purl} if purl else {}),
        **({"licenses": [{"license": {"id": licence}}]} if licence else {}),
    }


def cython_version() -> str:
    """Return the version of Cython whose code is in the modules. C files name it in their first line."""
    if IS_TRANSLATED:
        with (SDIST_C / CORE / "_memoryviews.c").open(encoding="utf-8") as c:
            return c.readline().split()[4]
    from Cython import __version__  # noqa: PLC0415

    return str(__version__)


def unicode_version() -> str:
    with (CORE / "unicode_tables.h").open(encoding="utf-8") as tables:
        return re.findall(r"Unicode ([\d.]+)\.", tables.readline())[0]


def packages(rooms: dict[str, str]) -> list[str]:
    """Return the rooms that pyproject.toml lists, and the packages inside them."""
    parts = (init.parent for folder in rooms.values() for init in sorted(Path(folder).rglob("__init__.py")))
    return ["opensearch_winnow", *(".".join(("opensearch_winnow", *part.parts)) for part in parts)]


settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
setup(
    packages=packages(settings["package-dir"]),
    ext_modules=core_modules(os.environ.get("MODULES", "").split()),
    cmdclass={"bdist_wheel": WheelWithSbom, "build_ext": TranslateAndBuild, "sdist": SdistWithC},
)
