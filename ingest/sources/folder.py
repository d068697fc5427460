"""Walks the files of a folder, or the files that match a pattern."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import PurePath
from typing import NamedTuple, Self

LINK = "symbolic link"  # reasons for skipping one
LINK_TO_OTHER_FILE = "symbolic link to what is read under another name"

# Hidden files, files that macOS packs beside others, and files that Spark writes beside its data.
_LEFT_OUT = re.compile(r"\..*|__MACOSX|_(?:SUCCESS|(?:common_)?metadata|(?:started|committed)_.*)", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")


def is_left_out(name: str) -> bool:
    """Return whether a file or folder of this name is not read from a folder."""
    return _LEFT_OUT.fullmatch(name) is not None


class FolderFile(NamedTuple):
    """A file of a folder."""

    path: str
    skipped: str = ""  # the reason, if it is a link that is not followed


@dataclass(frozen=True, slots=True)
class Folder:
    """The files at any depth of a folder; with a pattern, the files that match it or are in a folder that does.

    Links are followed only with `follow_links`, because they may lead out of the folder. Then each file is still read
    once, and never through a link if it is in the folder itself.
    """

    path: str
    pattern: tuple[str, ...] = ()  # one for each name on the way down; ** stands for any number of names
    follow_links: bool = False

    @classmethod
    def of_pattern(cls, path: str, *, follow_links: bool = False) -> Self | None:
        """Return the files that match an absolute path with *, ?, [] or **; None for a path without these."""
        parts = path.split("/")
        fixed = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), None)
        return None if fixed is None else cls("/".join(parts[:fixed]), tuple(parts[fixed:]), follow_links)

    def real(self) -> Self:
        """Return the same folder by its path without links."""
        return replace(self, path=os.path.realpath(self.path or "/").rstrip("/"))

    def files(self) -> Iterator[FolderFile]:
        """Yield the files, sorted within each folder. Only one folder is in memory at a time.

        Links that are not followed, and folders that cannot be read, are yielded too, so that they are counted.
        """
        links = _Links(self) if self.follow_links else None
        folders = [""]
        while folders:
            below = folders.pop()
            entries: list[os.DirEntry[str]] = []
            try:
                with os.scandir(f"{self.path}{below}" or "/") as listed:
                    entries = sorted(listed, key=attrgetter("name"))
            except NotADirectoryError:
                return  # the pattern needs a folder of that name, but it is a file
            except OSError:
                yield FolderFile(self.path + below)
            above = below.split("/")[1:]
            deeper: list[str] = []
            for entry in entries:
                positions = self._positions([*above, entry.name])
                if not positions or is_left_out(entry.name):
                    continue
                skipped = LINK if entry.is_symlink() else ""
                if links:
                    skipped = links.skipped(entry)
                if not skipped and (os.path.isdir(entry.path) if links else entry.is_dir()):  # noqa: PTH112
                    deeper.append(f"{below}/{entry.name}")
                elif len(self.pattern) in positions:
                    yield FolderFile(f"{self.path}{below}/{entry.name}", skipped)
            folders += reversed(deeper)

    def has(self, path: str) -> bool:
        """Return whether `path` is one of these files."""
        names = path.removeprefix(f"{self.path}/").split("/")
        return path.startswith(f"{self.path}/") and self._matches(names) and not any(map(is_left_out, names))

    def _matches(self, names: Sequence[str]) -> bool:
        return len(self.pattern) in self._positions(names)

    def _positions(self, names: Sequence[str]) -> set[int]:
        """Return the positions in the pattern that `names` can reach: its end, if they or a folder above them match."""
        positions, end = {0}, len(self.pattern)
        for name in names:
            if end in positions:
                break
            after = set()
            for position in positions:
                while self.pattern[position] == "**" and position + 1 < end:  # takes this name and more, or none
                    after.add(position)
                    position += 1
                if self.pattern[position] == "**" or fnmatchcase(name, self.pattern[position]):
                    after.add(position + 1)
            positions = after
        return positions


class _Links:
    """Decides which links of a folder to follow, so that each file is read once and the walk ends."""

    def __init__(self, folder: Folder) -> None:
        self._top = os.path.realpath(folder.path or "/").rstrip("/")
        self._folder = replace(folder, path=self._top)
        self._followed: set[str] = set()  # real paths of what links have led to

    def skipped(self, entry: os.DirEntry[str]) -> str:
        """Return why an entry is not read; an empty string if it is."""
        if not entry.is_symlink() and not self._followed:
            return ""
        real = os.path.realpath(entry.path)
        again = real == self._top or real in self._followed
        if entry.is_symlink():
            inside = os.path.exists(real) and real.startswith(f"{self._top}/")  # noqa: PTH110
            inside = inside and (os.path.isdir(real) or self._folder.has(real))  # noqa: PTH112
            again = again or inside or any(str(path) in self._followed for path in PurePath(real).parents)
            if not again:
                self._followed.add(real)
        return LINK_TO_OTHER_FILE if again else ""
