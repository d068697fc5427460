"""The files of a folder that are meant by its name, or by a pattern that the shell has left as it was."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

# Hidden files, and what Spark writes beside its rows.
_LEFT_OUT = re.compile(r"\..*|_(?:SUCCESS|(?:common_)?metadata|(?:started|committed)_.*)", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Folder:
    """Files at any depth of a folder. Those that fit a pattern, or are in a folder that does, if there is one."""

    path: str
    pattern: tuple[str, ...] = ()  # for each name on the way; ** for any number of them

    @classmethod
    def of_pattern(cls, path: str) -> Self | None:
        """The files that an absolute path with *, ?, [] or ** in it means. None if it has none of these."""
        parts = path.split("/")
        fixed = next((place for place, part in enumerate(parts) if _MAGIC.search(part)), None)
        return None if fixed is None else cls("/".join(parts[:fixed]), tuple(parts[fixed:]))

    def files(self) -> Iterator[str]:
        """Their paths, sorted folder by folder, of which one at a time is held.

        Links to folders are not followed, so that it ends. These, and folders that cannot be read, come as if they were
        files, to be counted.
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
                return  # a file, of which a pattern wants what is in it
            except OSError:
                yield self.path + below
            names.sort()
            deeper.sort(reverse=True)
            above = below.split("/")[1:]
            yield from (f"{self.path}{below}/{name}" for name in names if self._means([*above, name]))
            folders += [f"{below}/{name}" for name in deeper if self._places([*above, name])]

    def has(self, path: str) -> bool:
        """Whether this is the path of such a file."""
        names = path.removeprefix(f"{self.path}/").split("/")
        return path.startswith(f"{self.path}/") and self._means(names) and not any(map(_LEFT_OUT.fullmatch, names))

    def _means(self, names: Sequence[str]) -> bool:
        return len(self.pattern) in self._places(names)

    def _places(self, names: Sequence[str]) -> set[int]:
        """Where in the pattern these names on the way down can lead: its end, if they fit, or what they are in does."""
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
