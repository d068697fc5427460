"""What is a submission in folders as lecturers have them."""

from __future__ import annotations

import pytest

from opensearch_winnow.operations.sets.submissions import submissions

THREE = {"/class/alice", "/class/bob", "/class/carol"}
CLASS = [f"/class/{name}/{file}" for name in ("alice", "bob", "carol") for file in ("Main.java", "src/Util.java")]
YEARS = [f"/essays/{year}/{number}.txt" for year in (2024, 2025, 2026) for number in range(10 * year, 10 * year + 10)]
OF_TWO_YEARS = [f"/{year}/{name}" for year in (2025, 2026) for name in ("alice", "bob")]
WITH_MANY_FILES = [f"/class/{name}/File{number}.java" for name in ("alice", "bob") for number in range(10)]
FLAT = [f"/class/{name}.py" for name in ("alice", "bob", "carol")]


def names(paths: list[str], folders: list[str], how: str = "auto") -> set[str]:
    grouped = submissions(paths, folders, how)  # type: ignore[arg-type]
    assert sorted(path for group in grouped.values() for path in group) == sorted(paths)
    return set(grouped)


@pytest.mark.parametrize(
    ("paths", "folders", "wanted"),
    [
        (CLASS, ["/class"], THREE),
        (CLASS, ["/class/"], THREE),
        ([f"/zip{path}" for path in CLASS], ["/zip"], {f"/zip{each}" for each in THREE}),
        ([path for path in CLASS if "src" not in path], sorted(THREE), THREE),
        (YEARS, ["/essays"], set(YEARS)),
        (FLAT, ["/class"], set(FLAT)),
        ([*FLAT, "/class/extra/late.py"], ["/class"], {*FLAT, "/class/extra/late.py"}),
        (FLAT, [], set(FLAT)),
        ([*CLASS, "/class/dave.java"], ["/class"], {*THREE, "/class/dave.java"}),
        ([f"{each}/Main.java" for each in OF_TWO_YEARS], ["/2025", "/2026"], set(OF_TWO_YEARS)),
        (WITH_MANY_FILES, ["/class"], {"/class/alice", "/class/bob"}),  # recognised by those that recur
        ([], [], set()),
    ],
)
def test_submissions_are_recognised(paths: list[str], folders: list[str], wanted: set[str]) -> None:
    assert names(paths, folders) == wanted


def test_the_user_decides() -> None:
    assert names(CLASS, ["/class"], "files") == set(CLASS)
    assert names(YEARS, ["/essays"], "folders") == {"/essays/2024", "/essays/2025", "/essays/2026"}
