"""winnow cluster: its output, files and updates of the store, with both engines and both stores."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click import unstyle
from click.testing import Result

from opensearch_winnow import Index, Page, Scheme
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.clusters.schemas import CLUSTERS, EDGES
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.record_writer import RecordWriter
from opensearch_winnow.stores.engine.running import Running
from tests.cli.cluster_tables import exported, hidden, rows, stored_clusters
from tests.cli.conftest import LONG_URL, MILL
from tests.cli.sample_card import CONTROL_CHARACTERS
from tests.meaningless_text import sentences
from tests.spark_settings import SMALL

pytestmark = pytest.mark.check

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]
OnTerminal = Callable[..., tuple[int, str]]
MIRROR, EVIL = "http://mirror.example/mill", "http://example.com/\x1b[2J"


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A store with 30 near-duplicates and one other page."""
    store = tmp_path / "family.winnow"
    shared = sentences(300, 1)
    pages = [Page(f"http://example.org/{number}", text=f"{shared} {sentences(60, number + 2)}") for number in range(30)]
    with Index.open(store) as index:
        index.add([*pages, Page("http://example.org/alone", text=sentences(300, 99))])
    return store


def test_json_equals_the_result_of_the_library(winnow: Winnow, crawl: Path) -> None:
    with Index.open(crawl, create=False) as index:
        found = index.cluster(write_back=False).to_dict()
    done = winnow("cluster", "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert answer == found | {"seconds": answer["seconds"], "changed": answer["changed"]}
    assert (answer["pages"], answer["contents"], answer["clusters"], answer["clustered_pages"]) == (7, 6, 1, 4)
    assert (answer["largest"], answer["engine"], answer["sizes"]) == (4, "duckdb", {"4": 1})
    assert answer["largest_clusters"][0]["url"] == MILL
    assert (
        sum(answer["candidates"]["histogram"]) == answer["candidates"]["compared"] >= answer["candidates"]["edges"] > 0
    )


def test_the_store_is_updated_once(winnow: Winnow, crawl: Path) -> None:
    before = stored_clusters(crawl)
    assert json.loads(winnow("cluster", "--store", crawl, "--json").stdout)["changed"] == 3
    after = stored_clusters(crawl)
    assert Counter(Counter(after.values()).values()) == {4: 1, 1: 3}
    assert sum(before[page] != cluster for page, cluster in after.items()) == 3
    assert json.loads(winnow("cluster", "--store", crawl, "--json").stdout)["changed"] == 0
    assert stored_clusters(crawl) == after
    folded = json.loads(
        winnow("search", "--any-word", "valley", "café", "--by", "cluster", "--store", crawl, "--json").stdout
    )
    assert folded["groups"] < folded["total"]


def test_a_dry_run_leaves_the_store_unchanged(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    before = stored_clusters(crawl)
    done = winnow("cluster", "--store", crawl, "--dry-run", "--output", tmp_path / "clusters.parquet", "--json")
    assert json.loads(done.stdout)["changed"] is None
    assert stored_clusters(crawl) == before
    assert len(rows(tmp_path / "clusters.parquet")) == 7


def test_clusters_evidence_and_plot_are_written(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    output, evidence, plot = (tmp_path / name for name in ("clusters.parquet", "edges.parquet", "sizes.svg"))
    done = winnow("cluster", "--store", crawl, "--output", output, "--evidence", evidence, "--plot", plot, "--json")
    assert done.exit_code == 0
    assert pq.read_schema(output).remove_metadata() == CLUSTERS
    assert pq.read_schema(evidence).remove_metadata() == EDGES
    written = {row["capture"]: row["cluster"] for row in rows(output)}
    assert written == stored_clusters(crawl)
    together = {row["url"]: row for row in rows(output) if row["representative"] == MILL}
    assert together.keys() == {MILL, MIRROR, LONG_URL, EVIL}
    assert all(row["resemblance"] >= 0.5 for row in together.values())
    edges = rows(evidence)
    assert len(edges) == json.loads(done.stdout)["edges"]
    assert {row["rule"] for row in edges if {row["url"], row["other_url"]} == {MILL, MIRROR}} >= {"content"}
    assert "1 cluster of 4 pages" in plot.read_text(encoding="utf-8")
    assert hidden(tmp_path) == []


def test_record_files_give_the_same_clusters_as_the_store(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    records = exported(winnow, crawl)
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(records, folder / "part-00000.parquet")
    winnow("cluster", "--store", crawl, "--output", tmp_path / "store.parquet")
    for number, given in enumerate(
        [("--records", records), (folder,), ("--records", records, folder), ("--records", folder, "--records", records)]
    ):
        done = winnow("cluster", *given, "--output", tmp_path / f"{number}.parquet", "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["changed"] is None
        assert rows(tmp_path / f"{number}.parquet") == rows(tmp_path / "store.parquet")


@pytest.mark.check
def test_records_take_precedence_over_the_store_of_the_environment(
    process: Process, winnow: Winnow, crawl: Path
) -> None:
    before = stored_clusters(crawl)
    records = exported(winnow, crawl)
    done = process("cluster", "--records", records, "--json", WINNOW_STORE=str(crawl))
    assert (done.returncode, json.loads(done.stdout)["pages"]) == (0, 7)
    assert stored_clusters(crawl) == before
    assert json.loads(process("cluster", "--json", WINNOW_STORE=str(crawl)).stdout)["changed"] == 3


def test_thresholds_and_linkages(winnow: Winnow, crawl: Path) -> None:
    def clustered(*options: str) -> int:
        found: int = json.loads(winnow("cluster", "--store", crawl, "--dry-run", "--json", *options).stdout)[
            "clustered_pages"
        ]
        return found

    assert clustered("--threshold", "1") == 2
    assert clustered("--threshold", "0.9") == 3
    # A chain: the first capture of the mill has two thirds of the second's text, which the other pages contain.
    assert clustered("--threshold", "0.45") == 4
    assert clustered("--threshold", "0.45", "--linkage", "components") == 5


def test_the_representative_is_chosen(winnow: Winnow, crawl: Path) -> None:
    def shown(rule: str) -> str:
        found = winnow("cluster", "--store", crawl, "--json", "--representative", rule)
        return str(json.loads(found.stdout)["largest_clusters"][0]["url"])

    assert shown("earliest") == "http://example.org/mill"
    assert shown("site:mirror.example") == "http://mirror.example/mill"
    assert shown("longest").startswith("http://example.com/")
    refused = winnow("cluster", "--store", crawl, "--representative", "site:")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "a representative is chosen by earliest, newest, longest, canonical or site:HOST" in refused.stderr


def test_pages_choose_their_representative(winnow: Winnow, tmp_path: Path) -> None:
    """The links of HTML pages are votes, and `winnow export` lists them."""
    prose = " ".join(f"word{number}" for number in range(60))
    links = {"a": "", "b": "http://b.example/", "c": "//B.example/", "d": "http://b.example/#top"}
    lines = [
        {
            "url": f"http://{name}.example/",
            "html": f"<link rel='Canonical' href='{link}'>{prose}",
            "date": f"2024-01-0{day}",
        }
        for day, (name, link) in enumerate(links.items(), 1)
    ]
    pages, store = tmp_path / "pages.jsonl", tmp_path / "pages.winnow"
    pages.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert winnow("index", pages, "--store", store).exit_code == 0
    for rule, shown in (("earliest", "a"), ("canonical", "b")):
        found = winnow("cluster", "--store", store, "--json", "--representative", rule)
        assert json.loads(found.stdout)["largest_clusters"][0]["url"] == f"http://{shown}.example/"
    table = winnow("export", "--store", store, "--to", "-", "--columns", "url,canonical", "--format", "csv")
    assert sorted(table.stdout.split()[1:]) == [
        "http://a.example/,",
        "http://b.example/,http://b.example/",
        "http://c.example/,http://B.example/",
        "http://d.example/,http://b.example/",
    ]


def test_tables_on_a_terminal(on_terminal: OnTerminal, crawl: Path) -> None:
    code, shown = on_terminal(
        "winnow", "cluster", "--store", crawl.name, "--output", "clusters.parquet", "--quiet", COLUMNS="80"
    )
    lines = unstyle(shown).splitlines()
    assert code == 0
    assert lines[:3] == [
        crawl.name,
        "7 pages (captures), 6 of them distinct",
        "1 cluster with 4 pages; 3 pages have no near-duplicate",
    ]
    for heading in ("Clusters by size", "Largest clusters", "Written"):
        assert heading in lines
    assert any(line.startswith(f"    4  {MILL}") for line in lines)
    assert any("▲ threshold 50 %" in line for line in lines)
    assert any(line.startswith("No pairs were left out") for line in lines)
    assert "clusters      clusters.parquet" in lines
    assert f"{crawl.name}  3 pages got a new cluster" in lines
    assert lines[-1] == f"→ winnow similar {MILL} --store {crawl.name}"
    assert " on duckdb" in lines[-2]


@pytest.mark.check
@pytest.mark.parametrize("columns", [44, 60, 80, 120])
def test_lines_fit_and_contain_no_control_characters(process: Process, crawl: Path, columns: int) -> None:
    with Index.open(crawl) as index:
        index.add(
            [
                Page(EVIL + "2", text=sentences(99, 50), title="\x1b]0;evil\x07 \u202e"),
                Page(EVIL + "22", text=sentences(99, 50)),
            ]
        )
    shown = process("cluster", "--store", crawl, "--color", "always", "--threshold", "0.9", COLUMNS=str(columns)).stdout
    lines = unstyle(shown.decode()).splitlines()
    assert max(map(width, lines)) <= columns
    assert "".join(lines).count("␛") >= (1 if columns < 60 else 2)  # titles are left out if there is no room
    assert not any(CONTROL_CHARACTERS.search(line) for line in lines)


def test_rows_in_a_pipe(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    done = winnow("cluster", "--store", crawl, "--evidence", tmp_path / "edges.parquet")
    head, *table = [line.split("\t") for line in done.stdout.splitlines()]
    assert head == ["part", "name", "value"]
    values = {(part, name): value for part, name, value in table}
    assert values["count", "pages"] == "7"
    assert values["clusters of pages", "4"] == "1"
    assert values["largest", MILL] == "4"
    assert (values["count", "edges"], values["count", "changed"]) == ("4", "3")
    compared = int(values["pairs", "compared"])
    assert compared == sum(int(value) for part, _, value in table if part == "pairs of resemblance") > 0
    assert done.stderr == ""


@pytest.mark.check
def test_pairs_left_out_are_reported(winnow: Winnow, process: Process, family: Path) -> None:
    usual = json.loads(winnow("cluster", "--store", family, "--dry-run", "--json").stdout)
    assert (usual["largest"], usual["candidates"]["left_out"]) == (30, 0)
    cut = json.loads(winnow("cluster", "--store", family, "--dry-run", "--compared", "4", "--json").stdout)
    assert cut["largest"] == 30
    assert cut["candidates"]["compared"] < usual["candidates"]["compared"]
    assert cut["candidates"]["longest"] == 30
    shown = process("cluster", "--store", family, "--compared", "4", "--color", "always", COLUMNS="500").stdout.decode()
    assert (
        f"{cut['candidates']['common']:,} bands and shingles are on more than 5 contents each, one of them on 30."
        in shown
    )
    assert f"left out {cut['candidates']['left_out']:,} pairs unless another" in shown


@pytest.mark.check
def test_a_fast_run_reports_its_recall(winnow: Winnow, process: Process, family: Path) -> None:
    assert "expected" not in winnow("cluster", "--store", family, "--dry-run").stdout
    quick = process("cluster", "--store", family, "--dry-run", "--fast", "--color", "always", COLUMNS="200")
    assert "--fast is expected to find " in quick.stdout.decode()
    assert b"Warning" not in quick.stderr


def test_a_fast_run_warns_of_a_low_recall(winnow: Winnow, tmp_path: Path) -> None:
    shared = sentences(300, 1)
    with Index.open(tmp_path / "loose.winnow") as index:
        index.add(Page(f"http://example.org/{n}", text=f"{shared} {sentences(450, n + 2)}") for n in range(30))
    done = winnow("cluster", "--store", tmp_path / "loose.winnow", "--fast", "--threshold", "0.2", "--json")
    answer = json.loads(done.stdout)
    assert answer["expected_recall"] < 0.9
    assert done.stderr.startswith("Warning: --fast is expected to find only ")
    full = json.loads(winnow("cluster", "--store", tmp_path / "loose.winnow", "--threshold", "0.2", "--json").stdout)
    assert full["expected_recall"] is None
    assert full["candidates"]["edges"] > answer["candidates"]["edges"]


def test_a_state_updates_the_clusters_of_a_growing_crawl(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    def clustered(name: str, *options: str | Path) -> dict[str, Any]:
        tables = ("--output", tmp_path / f"{name}.parquet", "--evidence", tmp_path / f"{name}-edges.parquet")
        found: dict[str, Any] = json.loads(winnow("cluster", "--store", crawl, *tables, *options, "--json").stdout)
        assert found["edges"] == len(rows(tmp_path / f"{name}-edges.parquet"))
        return found

    first = clustered("first", "--state", tmp_path / "state")
    assert first["fresh"] == first["contents"] == 6
    with Index.open(crawl) as index:
        index.add([Page("http://example.net/new", text=f"{index.page(MILL).text} {sentences(60, 77)}")])
    grown = clustered("grown", "--state", tmp_path / "state")
    assert (grown["fresh"], grown["contents"], grown["changed"]) == (1, 7, 1)
    anew = clustered("anew")
    assert (anew["fresh"], anew["changed"], anew["edges"]) == (None, 0, grown["edges"])
    for table in ("", "-edges"):
        assert rows(tmp_path / f"grown{table}.parquet") == rows(tmp_path / f"anew{table}.parquet")


@pytest.mark.parametrize("what", ["store", "records"])
def test_without_pages(winnow: Winnow, tmp_path: Path, what: str) -> None:
    given = tmp_path / ("empty.winnow" if what == "store" else "empty.parquet")
    if what == "store":
        Index.open(given).add([])
    else:
        with RecordWriter(given, Scheme()):
            pass
    done = winnow("cluster", f"--{what}", given, "--plot", tmp_path / "p.svg", "--json")
    assert (done.exit_code, json.loads(done.stdout)["pages"]) == (1, 0)
    assert done.stderr.startswith(f"No pages in {given}")
    assert not (tmp_path / "p.svg").exists()


def test_overwrite(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    names = ("--output", tmp_path / "c.parquet", "--evidence", tmp_path / "e.parquet", "--plot", tmp_path / "p.svg")
    for _, path in zip(names[::2], names[1::2], strict=True):
        Path(path).write_text("old")
    assert winnow("cluster", "--store", crawl, *names).exit_code == 2
    assert winnow("cluster", "--store", crawl, *names, "--overwrite").exit_code == 0
    assert len(rows(tmp_path / "c.parquet")) == 7
    assert (tmp_path / "p.svg").read_text().startswith("<svg")


def test_on_opensearch(winnow: Winnow, crawl: Path, engine: Running) -> None:
    address = f"{engine.url}/cli-cluster"
    with Index.open(crawl) as index, Index.open(address) as other:
        other.add(
            Page(record.url, text=record.text, title=record.title, fetched_at=record.fetched_at)
            for record in index.store.scan(Record)
        )
    done = winnow("cluster", "--store", address, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["changed"] == 3
    winnow("cluster", "--store", crawl)
    assert stored_clusters(address) == stored_clusters(crawl)
    assert json.loads(winnow("cluster", "--store", address, "--json").stdout)["changed"] == 0


@pytest.mark.check
@pytest.mark.xdist_group("spark")
def test_on_spark(process: Process, winnow: Winnow, crawl: Path, root: Path) -> None:
    """Run the command that the guide shows."""
    folder = exported(winnow, crawl).rename(crawl.parent / "records.parquet").parent
    lines = (root / "docs/clusters.md").read_text(encoding="utf-8").splitlines()
    (command,) = (shlex.split(line)[1:] for line in lines if line.startswith("winnow ") and "--engine spark" in line)
    settings = [part for name, value in SMALL.items() for part in ("--spark", f"{name}={value}")]
    done = process(*command, *settings, "--evidence", "spark-edges", "--json")
    assert done.returncode == 0, done.stderr.decode()
    on_spark = json.loads(done.stdout)
    tables = ("--output", "clusters.parquet", "--evidence", "edges.parquet")
    on_duckdb = json.loads(process("cluster", "--records", "records.parquet", *tables, "--json").stdout)
    assert on_spark == on_duckdb | {"engine": "spark", "seconds": on_spark["seconds"]}
    for name in ("clusters", "edges"):
        assert rows(folder / f"spark-{name}") == rows(folder / f"{name}.parquet")
