"""winnow extract, as its users call it; and the sentences about a run."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index
from opensearch_winnow.cli.crawls.extract import tell
from opensearch_winnow.cli.crawls.index_summary import print_notes, table
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.operations.crawls.extract import ExtractReport
from opensearch_winnow.operations.crawls.indexing import IndexingOptions
from opensearch_winnow.stores.archive_counts import save_left_out
from tests.cli.conftest import Winnow
from tests.operations.crawls.test_extract import archive


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.index(archive(tmp_path / "in.warc.gz"), crawl="march")
        index.cluster()
    return tmp_path / "crawl.winnow"


def test_representatives_are_written_and_the_rest_is_told(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.warc.gz"
    extract = ("extract", "--store", store, "--to", out)
    done = winnow(*extract, "--representatives")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        f"3 records, 1 revisit, {out.stat().st_size:,} bytes: {out}",
        "Left out: 1 capture (near-duplicate of a representative)",
        f"They are listed in {out}.left-out.csv",
    ]
    assert "add --overwrite" in winnow.refused(*extract, "--representatives")
    answer = winnow.json(*extract, "--representatives", "--overwrite")
    assert [answer[key] for key in ("records", "revisits", "to", "list")] == [3, 1, str(out), f"{out}.left-out.csv"]
    assert (answer["left_out"], answer["bytes"]) == ({"near-duplicate of a representative": 1}, out.stat().st_size)
    # The captures of one cluster, or those of a list.
    with Index.open(store) as index:
        (largest, *_) = index.clusters()
        ids = "\n".join(card.id for card in index.cluster_pages(largest.cluster))
    assert winnow.json(*extract, "--overwrite", "--cluster", largest.cluster)["records"] == 3
    assert winnow.json(*extract, "--overwrite", "--ids", "-", stdin=ids)["records"] == 3


def test_what_cannot_be_done_is_said_in_a_sentence(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    out, new = tmp_path / "out.warc.gz", tmp_path / "new.winnow"
    (tmp_path / "in.warc.gz").unlink()
    done = winnow("extract", "--store", store, "--to", out)
    assert (done.exit_code, out.exists()) == (1, False)
    assert f"No record was written to {out}\nCould not be read: 5 captures (" in done.stderr
    assert "name their folder: --archives DIR" in done.stderr
    done = winnow("extract", "--store", store, "--to", out, "--archives", tmp_path, "--quiet")
    assert "nor in the given folders" in done.stderr
    assert "--archives" not in done.stderr
    with Index.open(new) as index:
        index.index(archive(tmp_path / "other.warc.gz"))
    complaints: list[tuple[tuple[str | Path, ...], str]] = [
        (("--store", new, "--to", out, "--representatives"), "has no clusters yet"),
        (("--store", store, "--to", tmp_path / "out.zip"), "out.zip does not end in .warc.gz, .warc or .wacz"),
        (("--store", store, "--to", tmp_path / "gone" / "out.warc"), "cannot be written: there is no folder"),
        (("--store", store, "--to", out, "--ids", tmp_path / "no.txt"), "no.txt cannot be read"),
    ]
    for options, complaint in complaints:
        assert complaint in winnow.refused("extract", *options)


@pytest.mark.check
def test_a_choice_of_nothing_is_explained(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.warc.gz"
    for options, sentence in (
        (("--cluster", "123"), f"{store} has no cluster 123"),
        (("--site", "www.a.example"), f"{store} has no page of the site www.a.example; there is a.example"),
        (("--crawl", "april"), f"{store} has no page of the crawl april; there is march"),
        (("--crawl", "march", "--since", "2027"), "No capture of crawl march is chosen by these options"),
    ):
        done = winnow("extract", "--store", store, "--to", out, *options, "-q")
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.splitlines() == [sentence, f"No record was written to {out}"]
        done = winnow("extract", "--store", store, "--to", out, *options, "--json")
        assert (json.loads(done.stdout)["records"], done.stderr) == (0, f"{sentence}\n")


def test_what_is_no_page_is_told(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    counts = {"type image/png": 3, **{f"status {number}": 1 for number in range(301, 306)}}
    with Index.open(store) as index:
        save_left_out(index.store, {str(tmp_path / "in.warc.gz"): counts, "other.warc.gz": {"status 404": 1}})
    for command, out in (("extract", "all.warc.gz"), ("export", "index.cdxj")):
        done = winnow(command, "--store", store, "--to", tmp_path / out)
        said = done.stderr.splitlines()[-1]
        assert (done.exit_code, " 8 other records of these archives, besides requests, are " in said) == (0, True)
        assert said.endswith(
            ": type image/png 3 · status 301 1 · status 302 1 · status 303 1 · status 304 1 · 1 other reason"
        )
        assert winnow.json(command, "--store", store, "--to", tmp_path / out, "--overwrite")["no_pages"] == counts
    done = winnow("export", "--store", store, "--to", tmp_path / "pages.csv")
    assert "other records" not in done.stderr


def test_a_run_tells_of_wrong_dates_and_revisits_without_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    def notes(report: Report, date: datetime | None = None) -> list[str]:
        print_notes(report, Path("failed.jsonl"), IndexingOptions(date=date))
        return capsys.readouterr().err.splitlines()

    dates, revisits = notes(Report(wrong_dates=1, wrong_date="2099", unfilled_revisits=2))
    assert dates == "1 page has a date that cannot be right (2099), and is indexed without a date."
    assert revisits.startswith("2 revisits have no text: the pages that they repeat are not stored.")
    day = datetime(2024, 1, 1, tzinfo=UTC)
    (one,) = notes(Report(wrong_dates=1, wrong_date="2099"), date=day)
    assert one.endswith("cannot be right (2099), and is indexed with your --date, 2024-01-01T00:00:00Z.")
    (four,) = notes(Report(wrong_dates=4, wrong_date="2099"), date=day)
    assert four.startswith("4 pages have dates that cannot be right, such as 2099: indexed with your --date, 2024")


@pytest.mark.parametrize(("reasons", "end"), [(6, " · status 305 1"), (7, " · status 304 1 · 2 other reasons 2")])
def test_a_run_lists_a_single_other_reason(reasons: int, end: str) -> None:
    skipped = Counter({f"status {300 + number}": 1 for number in range(reasons)})
    assert list(table(Report(skipped=skipped)))[2][-1][0].endswith(end)


def test_one_revisit_without_its_original_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    tell(ExtractReport(records=1, unresolved=1), "out.warc.gz")
    assert "\n1 revisit was written without the original" in capsys.readouterr().err
