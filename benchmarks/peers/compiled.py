"""Compiles peers when a benchmark starts and calls them in its process: two in C, one in Rust."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers.missing import MissingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Winnow = Callable[[str, int, int], object]

HERE = Path(__file__).parent
SIMD_MINIMIZERS = "3.1.0"


def c_peer(name: str) -> Winnow:
    """Compile a C file of this folder, and return its winnow()."""
    compiler = os.environ.get("CC") or "cc"
    if not shutil.which(compiler):
        raise MissingError("no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"{name}.so"
        _run([compiler, "-O3", "-shared", "-fPIC", str(HERE / f"{name}.c"), "-o", str(library)])
        return _winnow(library)


def simd_minimizers(offline: bool) -> Winnow:
    """Build the Rust crate for this processor, as its documentation recommends. It returns no hashes."""
    if not shutil.which("cargo"):
        raise MissingError("no cargo")
    folder = HERE.parent.parent / "build" / "simd-minimizers"
    library = folder / "target" / "release" / ("libpeer.dylib" if sys.platform == "darwin" else "libpeer.so")
    if not offline:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2024"\n\n'
            f'[lib]\ncrate-type = ["cdylib"]\npath = "{(HERE / "simd_minimizers.rs").as_posix()}"\n\n'
            f'[dependencies]\nsimd-minimizers = "={SIMD_MINIMIZERS}"\n'
        )
        _run(["cargo", "build", "--quiet", "--release"], folder, {"RUSTFLAGS": "-C target-cpu=native"})
    elif not library.exists():
        raise MissingError("not downloaded")
    return _winnow(library)


def _run(command: list[str], folder: Path = HERE, environment: Mapping[str, str] | None = None) -> None:
    environment = os.environ | (environment or {})
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"{command[0]} failed, {done.stderr.strip().splitlines()[-1:]}")


def _winnow(library: Path) -> Winnow:
    native = ctypes.CDLL(str(library)).winnow
    native.restype = ctypes.c_size_t
    native.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 3, *[ctypes.c_void_p] * 2]
    characters_of = ctypes.pythonapi.PyUnicode_AsUTF8  # the address of ASCII characters, without a copy
    characters_of.restype = ctypes.c_void_p
    characters_of.argtypes = [ctypes.py_object]
    room = {"Q": array("Q"), "I": array("I")}  # allocated once, as in a loop over many pages

    def winnow(chars: str, k: int, w: int) -> tuple[array[int], array[int]]:
        if len(room["Q"]) < len(chars):
            room.update({typecode: array(typecode, [0]) * len(chars) for typecode in room})
        hashes, positions = room["Q"], room["I"]
        count = native(characters_of(chars), len(chars), k, w, hashes.buffer_info()[0], positions.buffer_info()[0])
        return hashes[:count], positions[:count]

    return winnow
