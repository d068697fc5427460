"""winnow extract, as its users call it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Index
from opensearch_winnow.cli.crawls.extract import tell
from opensearch_winnow.cli.crawls.index_summary import print_notes, table
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.operations.crawls.extract import ExtractReport
from opensearch_winnow.operations.crawls.indexing import IndexingOptions
from opensearch_winnow.stores.archive_counts import save_left_out
from tests.operations.crawls.test_extract import archive

Winnow = Callable[..., Result]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.index(archive(tmp_path / "in.warc.gz"), crawl="march")
        index.cluster()
    return tmp_path / "crawl.winnow"


def test_representatives_are_written_and_the_rest_is_told(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.warc.gz"
    done = winnow("extract", "--store", store, "--to", out, "--representatives")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        f"3 records, 1 revisit, {out.stat().st_size:,} bytes: {out}",
        "Left out: 1 capture (near-duplicate of a representative)",
        f"They are listed in {out}.left-out.csv",
    ]
    again = winnow("extract", "--store", store, "--to", out, "--representatives")
    assert (again.exit_code, "exists; name another, or add --overwrite" in again.stderr) == (2, True)
    done = winnow("extract", "--store", store, "--to", out, "--representatives", "--overwrite", "--json")
    assert json.loads(done.stdout) == {
        "records": 3,
        "revisits": 1,
        "originals": 0,
        "unresolved": 0,
        "left_out": {"near-duplicate of a representative": 1},
        "failed": {},
        "no_pages": {},
        "bytes": out.stat().st_size,
        "to": str(out),
        "list": f"{out}.left-out.csv",
    }


def test_the_captures_of_one_cluster_or_those_of_a_list(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    with Index.open(store) as index:
        (largest, *_) = index.clusters()
        ids = [card.id for card in index.cluster_pages(largest.cluster)]
    done = winnow("extract", "--store", store, "--to", tmp_path / "a.warc.gz", "--cluster", largest.cluster, "--json")
    assert json.loads(done.stdout)["records"] == 3
    done = winnow(
        "extract", "--store", store, "--to", tmp_path / "b.warc.gz", "--ids", "-", "--json", stdin="\n".join(ids)
    )
    assert json.loads(done.stdout)["records"] == 3


def test_what_cannot_be_done_is_said_in_a_sentence(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.warc.gz"
    (tmp_path / "in.warc.gz").unlink()
    done = winnow("extract", "--store", store, "--to", out)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[:3] == [
        f"No record was written to {out}",
        "Could not be read: 5 captures (the archive is not where it was indexed)",
        "If the archives have moved, name their folder: --archives DIR",
    ]
    assert not out.exists()
    done = winnow("extract", "--store", store, "--to", out, "--archives", tmp_path, "--quiet")
    assert "nor in the given folders" in done.stderr
    assert "--archives" not in done.stderr
    with Index.open(tmp_path / "new.winnow") as index:
        index.index(archive(tmp_path / "other.warc.gz"))
    for options, sentence in (
        (("--store", tmp_path / "new.winnow", "--to", out, "--representatives"), "has no clusters yet"),
        (("--store", store, "--to", tmp_path / "out.zip"), "out.zip does not end in .warc.gz, .warc or .wacz"),
        (("--store", store, "--to", tmp_path / "gone" / "out.warc"), "cannot be written: there is no folder"),
        (("--store", store, "--to", out, "--ids", tmp_path / "no.txt"), "no.txt cannot be read"),
    ):
        done = winnow("extract", *options)
        assert (done.exit_code, done.stdout) == (2, "")
        assert sentence in done.stderr


@pytest.mark.check
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--cluster", "123"), "{store} has no cluster 123"),
        (("--site", "www.a.example"), "{store} has no page of the site www.a.example; there is a.example"),
        (("--crawl", "april"), "{store} has no page of the crawl april; there is march"),
        (("--crawl", "march", "--since", "2027"), "No capture of crawl march is chosen by these options"),
    ],
)
def test_a_choice_of_nothing_is_explained(
    winnow: Winnow, store: Path, tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    out = tmp_path / "out.warc.gz"
    done = winnow("extract", "--store", store, "--to", out, *options, "-q")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [sentence.format(store=store), f"No record was written to {out}"]
    done = winnow("extract", "--store", store, "--to", out, *options, "--json")
    assert (json.loads(done.stdout)["records"], done.stderr) == (0, f"{sentence.format(store=store)}\n")


def test_what_is_no_page_is_told(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    counts = {"type image/png": 3, **{f"status {number}": 1 for number in range(301, 306)}}
    with Index.open(store) as index:
        save_left_out(index.store, {str(tmp_path / "in.warc.gz"): counts, "other.warc.gz": {"status 404": 1}})
    said = (
        "Only pages are in it. 8 other records of these archives, besides requests, are left out: type image/png 3"
        " · status 301 1 · status 302 1 · status 303 1 · status 304 1 · 1 other reason"
    )
    for command, out in (("extract", "all.warc.gz"), ("export", "index.cdxj")):
        done = winnow(command, "--store", store, "--to", tmp_path / out)
        assert (done.exit_code, done.stderr.splitlines()[-1]) == (0, said)
        done = winnow(command, "--store", store, "--to", tmp_path / out, "--overwrite", "--json")
        assert json.loads(done.stdout)["no_pages"] == counts
    done = winnow("export", "--store", store, "--to", tmp_path / "pages.csv")
    assert said not in done.stderr


def test_a_run_tells_of_wrong_dates_and_revisits_without_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_notes(Report(wrong_dates=1, wrong_date="2099", unfilled_revisits=2), Path("failed.jsonl"), IndexingOptions())
    assert capsys.readouterr().err.splitlines() == [
        "1 page has a date that cannot be right (2099), and is indexed without a date.",
        "2 revisits have no text: the pages that they repeat are not stored. Index the archives that have them, too.",
    ]


def test_a_run_tells_which_date_pages_with_a_wrong_one_get(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (1, 4):
        report = Report(wrong_dates=wrong, wrong_date="2099")
        print_notes(report, Path("failed.jsonl"), IndexingOptions(date=datetime(2024, 1, 1, tzinfo=UTC)))
    assert capsys.readouterr().err.splitlines() == [
        "1 page has a date that cannot be right (2099), and is indexed with your --date, 2024-01-01T00:00:00Z.",
        "4 pages have dates that cannot be right, such as 2099: indexed with your --date, 2024-01-01T00:00:00Z.",
    ]


@pytest.mark.parametrize(("reasons", "end"), [(6, " · status 305 1"), (7, " · status 304 1 · 2 other reasons 2")])
def test_a_run_lists_a_single_other_reason(reasons: int, end: str) -> None:
    skipped = Counter({f"status {300 + number}": 1 for number in range(reasons)})
    assert list(table(Report(skipped=skipped)))[2][-1][0].endswith(end)


def test_one_revisit_without_its_original_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    tell(ExtractReport(records=1, unresolved=1), "out.warc.gz")
    said = "1 revisit was written without the original, which is in none of the archives: a player cannot show it"
    assert said in capsys.readouterr().err.splitlines()
