"""Reads and copies files of rows, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opensearch_winnow.ingest.rows import Edit, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles

LINE = b'{"id": %d, "text": "x"}\n'


def keep(number: int) -> Edit:  # noqa: ARG001
    return Edit()


def drop(number: int) -> None:  # noqa: ARG001
    return None


def ids(names: Sequence[Path | str], **options: object) -> list[str]:
    with RowFiles([str(name) for name in names], **options) as files:  # type: ignore[arg-type]
        return [row.page.url if isinstance(row, Row) else row.reason for row in files.rows()]


def copied(sources: Sequence[Path], to: Path | str, **options: object) -> int:
    with RowFiles([str(source) for source in sources]) as files:
        for _ in files.rows():
            pass
        return files.write(to, keep, **options)  # type: ignore[arg-type]
