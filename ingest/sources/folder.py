"""Walks the files of a folder, or those that a pattern matches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

# Hidden files, and the files that Spark writes beside its data.
_LEFT_OUT = re.compile(r"\..*|_(?:SUCCESS|(?:common_)?metadata|(?:started|committed)_.*)", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Folder:
    """The files at any depth of a folder; with a pattern, those that match it or are in a folder that does."""

    path: str
    pattern: tuple[str, ...] = ()  # one for each name on the way down; ** stands for any number of names

    @classmethod
    def of_pattern(cls, path: str) -> Self | None:
        """Return the files that match an absolute path with *, ?, [] or **; None for a path without these."""
        parts = path.split("/")
        fixed = next((place for place, part in enumerate(parts) if _MAGIC.search(part)), None)
        return None if fixed is None else cls("/".join(parts[:fixed]), tuple(parts[fixed:]))

    def files(self) -> Iterator[str]:
        """Yield the paths of the files, sorted within each folder. Only one folder is in memory at a time.

        Links to folders are not followed, so that the walk ends. They, and folders that cannot be read, are yielded as
        if they were files, so that they are counted.
        """
        folders = [""]
        while folders:
            below = folders.pop()
            names: list[str] = []
            deeper: list[str] = []
            try:
                with os.scandir(f"{self.path}{below}" or "/") as entries:
                    for entry in entries:
                        if not _LEFT_OUT.fullmatch(entry.name):
                            (deeper if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
            except NotADirectoryError:
                return  # the pattern needs a folder of that name, but it is a file
            except OSError:
                yield self.path + below
            names.sort()
            deeper.sort(reverse=True)
            above = below.split("/")[1:]
            yield from (f"{self.path}{below}/{name}" for name in names if self._matches([*above, name]))
            folders += [f"{below}/{name}" for name in deeper if self._places([*above, name])]

    def has(self, path: str) -> bool:
        """Whether `path` is one of these files."""
        names = path.removeprefix(f"{self.path}/").split("/")
        return path.startswith(f"{self.path}/") and self._matches(names) and not any(map(_LEFT_OUT.fullmatch, names))

    def _matches(self, names: Sequence[str]) -> bool:
        return len(self.pattern) in self._places(names)

    def _places(self, names: Sequence[str]) -> set[int]:
        """Return the places in the pattern that `names` can lead to: its end, if they or a folder above them match."""
        places, end = {0}, len(self.pattern)
        for name in names:
            if end in places:
                break
            after = set()
            for place in places:
                while self.pattern[place] == "**" and place + 1 < end:  # takes this name and more, or none
                    after.add(place)
                    place += 1
                if self.pattern[place] == "**" or fnmatchcase(name, self.pattern[place]):
                    after.add(place + 1)
            places = after
        return places
