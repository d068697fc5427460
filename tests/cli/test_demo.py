"""winnow demo. Its pages come from the machine that runs the tests, so simple code recomputes what it reports."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lxml import html

from opensearch_winnow import Index, Passage, Scheme, compare, fingerprint
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.running import Running
from tests.cli.conftest import CLEAN, PATH, WINNOW

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("demo")]  # on one worker, so that the demo runs once

SCHEME = Scheme()
SMALL = "60"  # pages of a quick demo, for tests that need no more
# Keys of the answer that depend on the pages alone, and not on the store.
STORE_INDEPENDENT = (
    "pages",
    "modules",
    "licences",
    "characters",
    "fingerprints",
    "clusters",
    "contained",
    "copied",
    "comparison",
)

Process = Callable[..., subprocess.CompletedProcess[bytes]]
OnTerminal = Callable[..., tuple[int, str]]


def run(folder: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    settings = CLEAN | {"PATH": PATH, "TMPDIR": str(folder)} | environment
    command = [WINNOW, "demo", *arguments]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, check=False)


class Demo(NamedTuple):
    folder: Path
    said: dict[str, Any]
    records: dict[str, Record]

    def text(self, page: dict[str, Any]) -> str:
        return self.records[page["url"]].text


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The full demo, run once for all tests."""
    folder = tmp_path_factory.mktemp("demo")
    done = run(folder, "--to", "made here", "--json", WINNOW_STORE="somebody-elses.winnow")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()
    said = json.loads(done.stdout)
    with Index.open(folder / said["store"], create=False) as index:
        return Demo(folder, said, {record.url: record for record in index.store.scan(Record)})


def test_the_documentation_and_licences_of_this_machine_are_indexed(demo: Demo) -> None:
    said, records = demo.said, demo.records
    assert said["modules"] >= 300
    assert said["licences"] >= 20
    assert len(records) == said["pages"] == said["indexed"] == said["modules"] + said["licences"]
    assert (said["unchanged"], said["skipped"], said["failed"]) == (0, 0, 0)
    assert said["characters"] == sum(len(record.text) for record in records.values())
    assert said["fingerprints"] == sum(len(fingerprint(record.text)) for record in records.values())
    assert "JSON" in records["https://pydoc.example/json.html"].text
    assert re.match(r"click [\d.]+: LICENSE", records["https://licences.example/click/LICENSE.txt"].title or "")
    assert all(record.fetched_at for record in records.values())
    assert sorted(path.name for path in (demo.folder / "made here").iterdir()) == ["demo.winnow", "report.html"]
    assert [path.name for path in demo.folder.iterdir()] == ["made here"]


def test_modules_with_side_effects_are_left_out(demo: Demo) -> None:
    assert {"antigravity", "this", "json.__main__"} & demo.said["left_out"].keys()
    assert not any(f"https://pydoc.example/{name}.html" in demo.records for name in demo.said["left_out"])


def test_pages_contain_no_memory_addresses_and_no_environment(demo: Demo) -> None:
    for record in demo.records.values():
        assert not re.search(r"\bat 0x[0-9a-f]{6}", record.text), record.url
        assert "somebody-elses.winnow" not in record.text


def test_near_copies_have_the_reported_resemblance(demo: Demo) -> None:
    clusters = demo.said["clusters"]
    threshold = demo.said["threshold"]
    assert [each["pages"] for each in clusters] == sorted((each["pages"] for each in clusters), reverse=True)
    assert len(clusters) == demo.said["clustering"]["clusters"] > 5
    assert sum(each["pages"] for each in clusters) == demo.said["clustering"]["clustered_pages"]
    for cluster in clusters:
        first = demo.text(cluster["representative"])
        for other in cluster["others"]:
            assert other["score"] == resemblance(first, demo.text(other)) >= threshold
        assert cluster["lowest"] == min(other["score"] for other in cluster["others"])
    families = [{each["representative"]["url"], *(other["url"] for other in each["others"])} for each in clusters]
    encodings = {f"https://pydoc.example/encodings.cp{number}.html" for number in (1250, 1251, 1252)}
    assert any(encodings <= family for family in families)


def words_of(text: str) -> set[int]:
    return set(shingles(canonical(text, SCHEME), SCHEME.shingle, SCHEME.seed))


def resemblance(a: str, b: str) -> float:
    one, other = words_of(a), words_of(b)
    return len(one & other) / len(one | other)


def test_every_licence_contained_in_another_is_reported(demo: Demo) -> None:
    licences = {url: record for url, record in demo.records.items() if record.site == "licences.example"}
    sets = {url: words_of(record.text) for url, record in licences.items()}
    inside = {
        (licences[url].cluster, licences[other].cluster)
        for url in licences
        for other in licences
        if licences[url].cluster != licences[other].cluster and sets[url] and sets[url] <= sets[other]
    }
    said = demo.said["contained"]
    assert said
    assert {licences[each["url"]].cluster for each in said} == {cluster for cluster, _ in inside}
    for each in said:
        for other in each["in"]:
            both = compare(demo.text(each), demo.text(other))
            assert (both.containment, both.contained) == (1, other["score"])
            assert (licences[each["url"]].cluster, licences[other["url"]].cluster) in inside


def test_no_passage_is_on_more_pages_than_the_reported_one(demo: Demo) -> None:
    assert [each["site"] for each in demo.said["copied"]] == ["pydoc.example", "licences.example"]
    for copied in demo.said["copied"]:
        texts = {url: record.text for url, record in demo.records.items() if record.site == copied["site"]}
        passage = canonical(copied["text"], SCHEME).chars
        have = {url for url, text in texts.items() if passage in canonical(text, SCHEME).chars}
        assert have == {page["url"] for page in copied["pages"]}
        assert copied["site_pages"] == len(texts)
        assert copied["words"] == len(canonical(copied["text"], SCHEME).words)
        frequencies = Counter(hash_ for text in texts.values() for hash_ in set(fingerprint(text).hashes))
        assert len(have) >= max(frequencies.values()) > 10


def test_the_search_counts_the_pages_with_its_words(demo: Demo) -> None:
    search = demo.said["search"]
    phrase = re.compile(r"\bpermission\W+notice\b", re.IGNORECASE)
    assert demo.said["query"] == '"permission notice"'
    assert search["total"] == sum(bool(phrase.search(record.text)) for record in demo.records.values()) > 10
    assert 1 < search["groups"] < search["total"]
    for hit in search["hits"]:
        first = demo.text(hit)
        assert all(each["resemblance"] == resemblance(first, demo.text(each)) for each in hit["member_pages"])


def test_the_two_licences_are_compared_exactly(demo: Demo) -> None:
    pair = demo.said["comparison"]
    both = compare(demo.text(pair["a"]), demo.text(pair["b"]))
    assert (pair["resemblance"], pair["containment"], pair["contained"]) == (
        both.resemblance,
        both.containment,
        both.contained,
    )
    assert [{name: each[name] for name in Passage._fields} for each in pair["passages"]] == both.to_dict()["passages"]
    assert len(pair["passages"]) > 1


def test_the_suggested_commands_work(demo: Demo) -> None:
    serve, *others = demo.said["next"]
    assert serve == f"winnow serve --store {shlex.quote(demo.said['store'])}"
    assert [shlex.split(line)[1] for line in others] == ["search", "similar", "compare"]
    for line in (f"{serve} --get '/api/v1/search?words=permission'", *others):
        done = subprocess.run(
            line, shell=True, env=os.environ | {"PATH": PATH}, cwd=demo.folder, capture_output=True, check=False
        )
        assert (done.returncode, bool(done.stdout)) == (0, True), (line, done.stderr)


# --- the report -------------------------------------------------------------------------------------------------------


@pytest.fixture
def report(demo: Demo) -> html.HtmlElement:
    return html.document_fromstring((demo.folder / demo.said["report"]).read_bytes())


def test_the_report_is_one_file_without_scripts(report: html.HtmlElement) -> None:
    assert (
        report.xpath(
            "//script | //link | //iframe | //img | //form | //@src | //@style | //@*[starts-with(name(), 'on')]"
        )
        == []
    )
    assert all(re.fullmatch(r"#[pb]\d+", link) for link in report.xpath("//@href"))
    (policy,) = report.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,) = report.xpath("//style/text()")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert not re.search(r"@import|url\(", style)


def test_the_report_has_everything(demo: Demo, report: html.HtmlElement) -> None:
    said = demo.said
    shown = " ".join(report.text_content().split())
    (heading,) = report.xpath("//h1")
    assert heading.text == f"{said['clustering']['clustered_pages']:,} of {said['pages']:,} pages have a near-copy"
    rows = report.xpath("//section[h2/@id='near']//tbody/tr")
    assert [row.xpath("string(td[1])").strip() for row in rows] == [f"{each['pages']:,}" for each in said["clusters"]]
    assert len(report.xpath("//section[h2/@id='contained']//tbody/tr")) == len(said["contained"])
    for cluster in said["clusters"]:
        assert all(page["title"] in shown for page in (cluster["representative"], *cluster["others"]))
    for copied in said["copied"]:
        assert f"on {len(copied['pages']):,} of the" in shown
        assert " ".join(copied["text"][:1_000].split()) in shown
    assert f"{said['search']['total']} pages in {said['search']['groups']} groups" in shown
    marked = {int(number) for number in " ".join(report.xpath("//mark/@data-passages")).split()}
    assert marked == set(range(1, len(said["comparison"]["passages"]) + 1))
    assert [line for line in report.xpath("string(//pre)").splitlines() if line] == said["next"]


# --- text output, second runs, other stores ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A demo with few pages: its folder, and its answer."""
    folder = tmp_path_factory.mktemp("small")
    return folder, json.loads(run(folder, "--to", ".", "--pages", SMALL, "--json").stdout)


def test_a_quick_demo_has_about_the_requested_number_of_pages(small: tuple[Path, dict[str, Any]]) -> None:
    _, said = small
    assert 0.7 * int(SMALL) <= said["pages"] + len(said["left_out"]) <= int(SMALL)
    assert said["modules"] > 10
    assert said["licences"] > 10
    assert said["clusters"]


def expected_sentences(said: dict[str, Any]) -> Iterator[str]:
    yield f"{said['pages']} pages that were already on this machine: {said['modules']} about Python's"
    yield f"and {said['licences']} licences of installed packages"
    yield f"{said['characters']:,} characters of text have {said['fingerprints']:,} fingerprints"
    yield f"{said['clustering']['clusters']} clusters with {said['clustering']['clustered_pages']} pages"
    yield from (f"{each['pages']} {each['representative']['title']}" for each in said["clusters"][:5])
    yield from (f"all of {each['title']} is in" for each in said["contained"][:5])
    yield from (f"{each['words']} words on {len(each['pages'])} of the" for each in said["copied"])
    yield f"{said['search']['total']} pages in {said['search']['groups']} groups"
    yield f"{said['report']}: all of this"
    yield from said["next"]


def test_a_second_run_finds_nothing_changed_and_prints_the_same_report(small: tuple[Path, dict[str, Any]]) -> None:
    folder, said = small
    done = run(folder, "--to", ".", "--pages", SMALL)
    told = " ".join(done.stdout.decode().split())
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert "None of them has changed since the last run" in told
    assert [sentence for sentence in expected_sentences(said) if sentence not in told] == []
    assert "\x1b" not in told
    with Index.open(folder / "demo.winnow", create=False) as index:
        assert index.store.count() == said["pages"]


def test_a_terminal_has_progress_and_colours(on_terminal: OnTerminal, tmp_path: Path) -> None:
    code, shown = on_terminal(WINNOW, "demo", "--pages", "20", TMPDIR=str(tmp_path))
    assert code == 0
    assert "rendering the standard library with pydoc" in shown
    assert "\x1b[1mNear-copies" in shown
    (folder,) = tmp_path.glob("winnow-demo-*")
    assert sorted(path.name for path in folder.iterdir()) == ["demo.winnow", "report.html"]


def test_the_report_is_the_same_on_opensearch(
    engine: Running, small: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    _, there = small
    store = f"{engine.url}/demo-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    for unchanged in (0, there["pages"]):
        done = run(tmp_path, "--to", ".", "--pages", SMALL, "--json", "--store", store)
        assert done.returncode == 0, done.stderr.decode()
        said = json.loads(done.stdout)
        assert said["unchanged"] == unchanged
        assert {name: said[name] for name in STORE_INDEPENDENT} == {name: there[name] for name in STORE_INDEPENDENT}
        assert [said["search"][name] for name in ("total", "groups")] == [
            there["search"][name] for name in ("total", "groups")
        ]
        assert said["next"][0] == f"winnow serve --store {store}"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
