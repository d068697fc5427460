"""winnow cluster: its output, files and updates of the store, with both engines and both stores."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click import unstyle

from opensearch_winnow import Index, Page, Scheme
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.clusters.schemas import CLUSTERS, EDGES
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.record_writer import RecordFileWriter
from opensearch_winnow.stores.engine.running import Running
from tests.cli.cluster_tables import exported, hidden, rows, stored_clusters
from tests.cli.conftest import LONG_URL, MILL, OnTerminal, Process, Winnow, json_lines
from tests.cli.sample_card import CONTROL_CHARACTERS
from tests.meaningless_text import sentences
from tests.spark_settings import SMALL

pytestmark = pytest.mark.check

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
    assert (answer["largest_clusters"][0]["url"], answer["engine"], answer["sizes"]) == (MILL, "duckdb", {"4": 1})
    candidates = answer["candidates"]
    assert sum(candidates["histogram"]) == candidates["compared"] >= candidates["edges"] > 0


def test_the_store_is_updated_once(winnow: Winnow, crawl: Path) -> None:
    before = stored_clusters(crawl)
    dry = winnow.json("cluster", "--store", crawl, "--dry-run", "--output", crawl.with_name("dry.parquet"))
    assert (dry["changed"], len(rows(crawl.with_name("dry.parquet")))) == (None, 7)
    assert stored_clusters(crawl) == before
    assert winnow.json("cluster", "--store", crawl)["changed"] == 3
    after = stored_clusters(crawl)
    assert Counter(Counter(after.values()).values()) == {4: 1, 1: 3}
    assert sum(before[page] != cluster for page, cluster in after.items()) == 3
    assert winnow.json("cluster", "--store", crawl)["changed"] == 0
    assert stored_clusters(crawl) == after
    folded = winnow.json("search", "--any-word", "valley", "café", "--by", "cluster", "--store", crawl)
    assert folded["groups"] < folded["total"]


def test_clusters_evidence_and_plot_are_written(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    output, evidence, plot = (tmp_path / name for name in ("clusters.parquet", "edges.parquet", "sizes.svg"))
    answer = winnow.json("cluster", "--store", crawl, "--output", output, "--evidence", evidence, "--plot", plot)
    assert pq.read_schema(output).remove_metadata() == CLUSTERS
    assert pq.read_schema(evidence).remove_metadata() == EDGES
    assert {row["capture"]: row["cluster"] for row in rows(output)} == stored_clusters(crawl)
    together = {row["url"]: row for row in rows(output) if row["representative"] == MILL}
    assert together.keys() == {MILL, MIRROR, LONG_URL, EVIL}
    assert all(row["resemblance"] >= 0.5 for row in together.values())
    edges = rows(evidence)
    assert len(edges) == answer["edges"]
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
        assert winnow.json("cluster", *given, "--output", tmp_path / f"{number}.parquet")["changed"] is None
        assert rows(tmp_path / f"{number}.parquet") == rows(tmp_path / "store.parquet")


def test_records_take_precedence_over_the_store_of_the_environment(
    winnow: Winnow, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stored_clusters(crawl)
    records = exported(winnow, crawl)
    monkeypatch.setenv("WINNOW_STORE", str(crawl))
    assert winnow.json("cluster", "--records", records)["pages"] == 7
    assert stored_clusters(crawl) == before
    assert winnow.json("cluster")["changed"] == 3


@pytest.mark.parametrize(
    ("options", "pages"),
    [
        (("--threshold", "1"), 2),
        (("--threshold", "0.9"), 3),
        # A chain: the first capture of the mill has two thirds of the second's text, which the other pages contain.
        (("--threshold", "0.45"), 4),
        (("--threshold", "0.45", "--linkage", "components"), 5),
    ],
)
def test_thresholds_and_linkages(winnow: Winnow, crawl: Path, options: tuple[str, ...], pages: int) -> None:
    assert winnow.json("cluster", "--store", crawl, "--dry-run", *options)["clustered_pages"] == pages


def test_the_representative_is_chosen(winnow: Winnow, crawl: Path) -> None:
    for rule, shown in (("earliest", MILL), ("site:mirror.example", MIRROR), ("longest", EVIL)):
        found = winnow.json("cluster", "--store", crawl, "--representative", rule)
        assert found["largest_clusters"][0]["url"] == shown
    refused = winnow.refused("cluster", "--store", crawl, "--representative", "site:")
    assert "a representative is chosen by earliest, newest" in refused


def test_pages_choose_their_representative(winnow: Winnow, tmp_path: Path) -> None:
    """The links of HTML pages are votes, and `winnow export` lists them."""
    prose = " ".join(f"word{number}" for number in range(60))
    links = {"a": "", "b": "http://b.example/", "c": "//B.example/", "d": "http://b.example/#top"}
    pages, store = tmp_path / "pages.jsonl", tmp_path / "pages.winnow"
    html = {f"http://{name}.example/": f"<link rel='Canonical' href='{link}'>{prose}" for name, link in links.items()}
    json_lines(pages, *({"url": u, "html": h, "date": f"2024-01-0{day}"} for day, (u, h) in enumerate(html.items(), 1)))
    assert winnow("index", pages, "--store", store).exit_code == 0
    for rule, shown in (("earliest", "a"), ("canonical", "b")):
        found = winnow.json("cluster", "--store", store, "--representative", rule)
        assert found["largest_clusters"][0]["url"] == f"http://{shown}.example/"
    table = winnow("export", "--store", store, "--to", "-", "--columns", "url,canonical", "--format", "csv")
    assert sorted(table.stdout.split()[1:]) == [
        "http://a.example/,",
        "http://b.example/,http://b.example/",
        "http://c.example/,http://B.example/",
        "http://d.example/,http://b.example/",
    ]


def test_tables_on_a_terminal(on_terminal: OnTerminal, crawl: Path) -> None:
    options = ("--store", crawl.name, "--output", "clusters.parquet", "--quiet")
    code, shown = on_terminal("winnow", "cluster", *options, COLUMNS="80")
    lines = unstyle(shown).splitlines()
    assert (code, lines[:2]) == (0, [crawl.name, "7 pages (captures), 6 of them distinct"])
    for part in (f"\n    4  {MILL}", "▲ threshold 50 %", "\nNo pairs were left out"):
        assert part in "\n".join(lines)
    assert "clusters      clusters.parquet" in lines
    assert f"{crawl.name}  3 pages got a new cluster" in lines
    assert lines[-1] == f"→ winnow similar {MILL} --store {crawl.name}"
    assert " on duckdb" in lines[-2]


@pytest.mark.parametrize("columns", [44, 60, 80, 120])
def test_lines_fit_and_contain_no_control_characters(process: Process, crawl: Path, columns: int) -> None:
    with Index.open(crawl) as index:
        titles = {f"{EVIL}2": "\x1b]0;evil\x07 \u202e", f"{EVIL}22": None}
        index.add(Page(url, text=sentences(99, 50), title=title) for url, title in titles.items())
    options = ("--color", "always", "--threshold", "0.9")
    shown = process("cluster", "--store", crawl, *options, COLUMNS=str(columns)).stdout
    lines = unstyle(shown.decode()).splitlines()
    assert max(map(width, lines)) <= columns
    assert "".join(lines).count("␛") >= (1 if columns < 60 else 2)  # titles are left out if there is no room
    assert not any(CONTROL_CHARACTERS.search(line) for line in lines)


def test_rows_in_a_pipe(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    done = winnow("cluster", "--store", crawl, "--evidence", tmp_path / "edges.parquet")
    head, *table = [line.split("\t") for line in done.stdout.splitlines()]
    assert head == ["part", "name", "value"]
    values = {(part, name): value for part, name, value in table}
    assert [values["count", name] for name in ("pages", "edges", "changed")] == ["7", "4", "3"]
    assert (values["clusters of pages", "4"], values["largest", MILL]) == ("1", "4")
    compared = int(values["pairs", "compared"])
    assert compared == sum(int(value) for part, _, value in table if part == "pairs of resemblance") > 0
    assert done.stderr == ""


def test_pairs_left_out_are_reported(winnow: Winnow, process: Process, family: Path) -> None:
    usual = winnow.json("cluster", "--store", family, "--dry-run")
    assert (usual["largest"], usual["candidates"]["left_out"]) == (30, 0)
    answer = winnow.json("cluster", "--store", family, "--dry-run", "--compared", "4")
    cut = answer["candidates"]
    assert (answer["largest"], cut["longest"], cut["compared"] < usual["candidates"]["compared"]) == (30, 30, True)
    shown = process("cluster", "--store", family, "--compared", "4", "--color", "always", COLUMNS="500").stdout.decode()
    assert f"{cut['common']:,} bands and shingles are on more than 5 contents each, one of them on 30." in shown
    assert f"left out {cut['left_out']:,} pairs unless another" in shown
    assert "expected" not in winnow("cluster", "--store", family, "--dry-run").stdout
    quick = process("cluster", "--store", family, "--dry-run", "--fast", "--color", "always", COLUMNS="200")
    assert "--fast is expected to find " in quick.stdout.decode()
    assert b"Warning" not in quick.stderr


def test_a_fast_run_warns_of_a_low_recall(winnow: Winnow, tmp_path: Path) -> None:
    shared = sentences(300, 1)
    with Index.open(tmp_path / "loose.winnow") as index:
        index.add(Page(f"http://example.org/{n}", text=f"{shared} {sentences(450, n + 2)}") for n in range(30))
    loosely = ("cluster", "--store", tmp_path / "loose.winnow", "--threshold", "0.2")
    done = winnow(*loosely, "--fast", "--json")
    answer = json.loads(done.stdout)
    assert answer["expected_recall"] < 0.9
    assert done.stderr.startswith("Warning: --fast is expected to find only ")
    full = winnow.json(*loosely)
    assert full["expected_recall"] is None
    assert full["candidates"]["edges"] > answer["candidates"]["edges"]


def test_a_state_updates_the_clusters_of_a_growing_crawl(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    clustering = ("cluster", "--store", crawl, "--evidence", tmp_path / "edges.parquet", "--overwrite")
    first = winnow.json(*clustering, "--state", tmp_path / "state")
    assert first["fresh"] == first["contents"] == 6
    with Index.open(crawl) as index:
        index.add([Page("http://example.net/new", text=f"{index.page(MILL).text} {sentences(60, 77)}")])
    grown = winnow.json(*clustering, "--state", tmp_path / "state")
    assert (grown["fresh"], grown["contents"], grown["changed"]) == (1, 7, 1)
    evidence = rows(tmp_path / "edges.parquet")
    anew = winnow.json(*clustering)
    assert (anew["fresh"], anew["changed"], anew["edges"]) == (None, 0, grown["edges"])
    assert rows(tmp_path / "edges.parquet") == evidence


@pytest.mark.parametrize("what", ["store", "records"])
def test_without_pages(winnow: Winnow, tmp_path: Path, what: str) -> None:
    given = tmp_path / ("empty.winnow" if what == "store" else "empty.parquet")
    if what == "store":
        Index.open(given).add([])
    else:
        with RecordFileWriter(given, Scheme()):
            pass
    done = winnow("cluster", f"--{what}", given, "--plot", tmp_path / "p.svg", "--json")
    assert (done.exit_code, json.loads(done.stdout)["pages"]) == (1, 0)
    assert done.stderr.startswith(f"No pages in {given}")
    assert not (tmp_path / "p.svg").exists()


def test_overwrite(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    output, evidence, plot = paths = [tmp_path / name for name in ("c.parquet", "e.parquet", "p.svg")]
    for path in paths:
        path.write_text("old")
    command = ("cluster", "--store", crawl, "--output", output, "--evidence", evidence, "--plot", plot)
    winnow.refused(*command)
    assert winnow(*command, "--overwrite").exit_code == 0
    assert (len(rows(output)), plot.read_text()[:4]) == (7, "<svg")


def test_on_opensearch(winnow: Winnow, crawl: Path, engine: Running) -> None:
    address = f"{engine.url}/cli-cluster"
    with Index.open(crawl) as index, Index.open(address) as other:
        other.add(
            Page(record.url, text=record.text, title=record.title, fetched_at=record.fetched_at)
            for record in index.store.scan(Record)
        )
    assert winnow.json("cluster", "--store", address)["changed"] == 3
    winnow("cluster", "--store", crawl)
    assert stored_clusters(address) == stored_clusters(crawl)
    assert winnow.json("cluster", "--store", address)["changed"] == 0


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
