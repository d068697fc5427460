"""Groups the files of a folder into submissions: each sub-folder is one, or each file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

Submissions = Literal["auto", "files", "folders"]

# The suffix that Moodle adds to the name of a student: Zoë Müller_101_assignsubmission_file_
_MOODLE = re.compile(r"_\d+_assignsubmission_[a-z]+(?:_|(?=/)|$)", re.IGNORECASE)

# Names of files in a folder of submissions that are not submissions.
_BESIDE = re.compile(r"__init__\.py|(?:readme|licen[cs]e|makefile)(?:\.\w+)?", re.IGNORECASE)


def submissions(
    paths: Sequence[str], folders: Sequence[str], how: Submissions = "auto", others: Sequence[str] = ()
) -> Mapping[str, list[str]]:
    """Group `paths`, which are absolute, by the folder or file that is a submission; `folders` are those named.

    The submissions are the sub-folders of each folder. If half of the files are directly in several folders, as with
    class/*, these are the submissions; and one sub-folder alone, as of an unpacked archive, stands for its folder. A
    file that is in none of them is a submission itself. For "auto", see `are_submissions`.

    The `others`, which are not compared, do not influence this. If folders are submissions, they join their folders. If
    files are, and half of them are directly in a named folder, the others there are submissions, too, unless they are
    in a sub-folder with a compared file.
    """
    tops = _tops(paths, [folder.rstrip("/") for folder in folders])
    grouped: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        grouped[_submission(path, tops)].append(path)
    inside = {path: submission for path in others if (submission := _submission_of_other(path, tops))}
    if how == "files" or (how == "auto" and not are_submissions(grouped)):
        alone = [path for path, submission in inside.items() if submission not in grouped]
        is_class = 2 * sum(path in grouped for path in paths) >= len(paths)
        return {path: [path] for path in (*paths, *(alone if is_class else ()))}
    for path, submission in inside.items():
        grouped[submission].append(path)
    return grouped


def are_submissions(grouped: Mapping[str, Sequence[str]]) -> bool:
    """True if groups of files look like the submissions of a class, rather than like years or parts of a collection.

    Most files are in a sub-folder; and there are at least as many sub-folders as files in one of them, on average, or
    most sub-folders have a file that another one has too, such as src/Main.java.
    """
    folders = {folder: files for folder, files in grouped.items() if files != [folder]}
    inside = sum(map(len, folders.values()))
    if len(folders) < 2 or 2 * inside < sum(map(len, grouped.values())):
        return False
    names = Counter(file[len(folder) :] for folder, files in folders.items() for file in files)
    alike = sum(any(names[file[len(folder) :]] > 1 for file in files) for folder, files in folders.items())
    return are_many(grouped) or 2 * alike > len(folders)


def are_many(grouped: Mapping[str, Sequence[str]]) -> bool:
    """Return whether there are at least as many sub-folders as files in one of them, on average."""
    folders = {folder: files for folder, files in grouped.items() if files != [folder]}
    return len(folders) > 1 and len(folders) ** 2 >= sum(map(len, folders.values()))


def _tops(paths: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Return the folders whose sub-folders are submissions."""
    directly = sum(str(PurePosixPath(path).parent) in folders for path in paths)
    if len(folders) > 1 and 2 * directly >= len(paths):
        return sorted({str(PurePosixPath(folder).parent) for folder in folders}, key=len, reverse=True)
    tops = []
    for folder in folders:
        top = folder
        inside = [path for path in paths if path.startswith(f"{folder}/")]
        while len(below := {_submission(path, [top]) for path in inside}) == 1 and below.isdisjoint(inside):
            (top,) = below
        tops.append(top)
    return sorted(tops, key=len, reverse=True)


def _submission(path: str, tops: Sequence[str]) -> str:
    """Return the folder directly in one of `tops` that a file is in, or the file itself."""
    for top in tops:
        if path.startswith(f"{top}/"):
            return f"{top}/{path[len(top) + 1 :].partition('/')[0]}"
    return path


def _submission_of_other(path: str, tops: Sequence[str]) -> str:
    """Return the submission that a file, which is not compared, is in, or is itself; empty if it belongs to none."""
    submission = _submission(path, tops)
    is_alone = submission == path
    is_beside = str(PurePosixPath(path).parent) not in tops or _BESIDE.fullmatch(PurePosixPath(path).name)
    return "" if is_alone and is_beside else submission


def without_moodle(name: str) -> str:
    """Return the name of a submission without the suffix that Moodle adds to the student's name."""
    return re.sub("/+", "/", _MOODLE.sub("/", name)).rstrip("/") if _MOODLE.search(name) else name
