"""winnow extract, as its users call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Index
from tests.operations.test_extract import archive

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
    assert (again.exit_code, "exists; name another file, or add --overwrite" in again.stderr) == (2, True)
    done = winnow("extract", "--store", store, "--to", out, "--representatives", "--overwrite", "--json")
    assert json.loads(done.stdout) == {
        "records": 3,
        "revisits": 1,
        "originals": 0,
        "left_out": {"near-duplicate of a representative": 1},
        "failed": {},
        "bytes": out.stat().st_size,
        "to": str(out),
        "list": f"{out}.left-out.csv",
    }


def test_the_captures_of_one_cluster_or_those_of_a_list(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    with Index.open(store) as index:
        (largest, *_) = index.clusters()
        ids = [card.id for card in index.cluster_members(largest.cluster)]
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
        (("--store", store, "--to", tmp_path / "gone" / "out.warc"), "cannot be written: No such file or directory"),
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
