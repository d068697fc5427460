"""The report of a set of documents: complete without a script, inert, and without names if it is anonymised."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from unicodedata import normalize
from unittest.mock import Mock

import pytest
from lxml import html

from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.scheme import PRESETS
from opensearch_winnow.queries.sets.pair_finder import find_pairs
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile, Measure, Pair, Pairs, Unread
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.web.class_report import report as reports
from opensearch_winnow.web.class_report.anonymised import NameMasks
from opensearch_winnow.web.class_report.report import write_report
from tests.web.class_fixture import HOSTILE, class_of_five, parser, program


def written(pairs: Pairs, target: Path, **options: Any) -> str:
    write_report(pairs, target, **options)
    return target.read_text()


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return class_of_five()


@pytest.fixture
def page(pairs: Pairs, tmp_path: Path) -> str:
    return written(pairs, tmp_path / "class.html", title="Task 4")


def test_everything_is_there_without_a_script(page: str, pairs: Pairs) -> None:
    words = unescape(re.sub(r"<[^>]+>", "", re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)))
    for document in pairs.documents[:4]:
        assert document.id in words
        for file in document.files:
            for line in file.text.splitlines():
                assert line in words
    assert "Those of 39 or more are always found, those below 30 never" in words
    for part in ("Task 4", "2 pairs have a similarity of 20 % or more, in 2 groups", "not a proof", "zoe"):
        assert (part in words) == (part != "zoe")  # who is in no pair is not named


def test_every_link_leads_somewhere_and_nothing_is_loaded(page: str, pairs: Pairs) -> None:
    tree = html.document_fromstring(page)
    ids, links = tree.xpath("//@id"), tree.xpath("//@href")
    assert len(set(ids)) == len(ids)
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert not any(link.removeprefix("#") == link for link in links)
    attributes = {name for each in tree.iter() for name in each.attrib}
    assert not attributes & {"src", "srcset", "action", "style"}
    assert not [name for name in attributes if name.startswith("on")]
    assert "@import" not in page
    assert "url(" not in page
    for rank, pair in enumerate(pairs.pairs, 1):
        assert pair.passages
        for number in range(1, len(pair.passages) + 1):  # which is on both sides
            for side, other in ("ab", "ba"):
                assert f'<a class="n" id="x{rank}{side}{number}" href="#x{rank}{other}{number}">' in page


def test_the_policy_allows_only_the_style_and_the_script_of_the_page(page: str) -> None:
    tree = html.document_fromstring(page)
    assert "<script>alert" not in page
    assert len(tree.xpath("//script")) == 1
    (policy,) = tree.xpath("//meta[@http-equiv]/@content")
    assert policy.startswith("default-src 'none';")
    for kind in ("style", "script"):
        (inline,) = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_a_folder_has_a_page_for_each_pair(pairs: Pairs, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    assert write_report(pairs, folder) == 2
    assert sorted(each.name for each in folder.iterdir()) == ["index.html", "pair-0001.html", "pair-0002.html"]
    trees = {file.name: html.document_fromstring(file.read_text()) for file in folder.iterdir()}
    for file, tree in trees.items():
        for link in tree.xpath("//@href"):
            name, _, anchor = link.partition("#")
            assert not anchor or anchor in trees[name or file].xpath("//@id")
            assert not name or name in trees


@pytest.mark.parametrize("target", ["class.html", "class"])
def test_an_anonymised_report_has_no_name(pairs: Pairs, tmp_path: Path, target: str) -> None:
    unread = [Unread("miller_ada/photo.png", "an image"), Unread("uni/x.pdf", "PDF", document="uni ada")]
    write_report(replace(pairs, unread=unread), tmp_path / target, anonymise=True)
    files = [tmp_path / target] if target.endswith(".html") else list((tmp_path / target).iterdir())
    for file in files:
        text = file.read_text() + file.name
        for name in ("miller", "ada", "tom", "eve", "alert(1)", "Main.java", "Lexer.java", "uni", "photo"):
            shown = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
            assert not re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", shown, re.IGNORECASE), (file.name, name)
    assert any("Submission 01" in file.read_text() for file in files)


def test_masked_texts_keep_their_length_and_names_are_known_without_what_moodle_adds(pairs: Pairs) -> None:
    masked = NameMasks(pairs).masked("// Ada Miller, ADA_MILLER and miller, ada; atom and adam miller are others. tom?")
    assert masked == "// ███ ██████, ███_██████ and ██████, ███; atom and adam miller are others. ███?"
    students = ("Zoë Müller_101_assignsubmission_file_", "Anna Maria Li_7_assignsubmission_file_/main.py")
    masks = NameMasks(replace(pairs, documents=[Document(name, ()) for name in students]))
    text = "Zoë Müller; MÜLLER, Zoë; zoë_müller; Anna Maria Li; Li, Anna Maria; Anna"
    assert masks.masked(text) == "███ ██████; ██████, ███; ███_██████; ████ █████ ██; ██, ████ █████; Anna"


def test_accents_do_not_hide_a_name(pairs: Pairs) -> None:
    """Names of files on macOS have accents of their own, and people leave them out. Those not compared count, too."""
    unread = [Unread("Ðorđe Kovač/x.pdf", "PDF", document="Ðorđe Kovač")]
    for form in ("NFC", "NFD"):
        students = [Document(normalize(form, name), ()) for name in ("Milan García", "이서연", "がく たろう")]
        masks = NameMasks(replace(pairs, documents=students, unread=unread))
        for text in ("Milan García", "MILAN GARCÍA", "Milan Garcia", "이서연", "がく たろう", "Ðorđe Kovac"):
            for written in (normalize("NFC", text), normalize("NFD", text)):
                masked = masks.masked(f"by {written}, 2026")
                assert len(masked) == len(f"by {written}, 2026")
                assert set(masked.removeprefix("by ").removesuffix(", 2026")) <= {"█", " "}, written


def test_what_was_not_compared_is_named(pairs: Pairs, tmp_path: Path) -> None:
    unread = [Unread(f"fay/{number}.py", "empty", document="fay") for number in range(12)]
    unread += [Unread("tom/x.png", "an image", document="tom")]
    text = written(replace(pairs, unread=unread), tmp_path / "class.html")
    assert all(f"<li>fay/{number}.py: empty</li>" in text for number in range(12))
    assert "<li>tom/x.png: an image</li>" in text
    assert text.index("1 of 6 submissions could not be compared: fay (empty)") < text.index("<h1>")
    assert "Two documents of one owner" in text
    ownerless = [replace(each, owner="") for each in pairs.documents]
    text = written(replace(pairs, documents=ownerless, measure="longest"), tmp_path / "other.html")
    assert "Two documents of one owner" not in text
    assert "All compared pairs by similarity" not in text
    assert text.index('id="pairs"') < text.index('id="groups"')


def test_numbers_do_not_follow_the_alphabet(pairs: Pairs, tmp_path: Path) -> None:
    renamed = {"miller_ada": "a", "tom": "b", "eve": "c", HOSTILE: "d", "zoe": "e"}
    documents = [replace(each, id=renamed[each.id]) for each in pairs.documents]
    found = [replace(each, a=renamed[each.a], b=renamed[each.b]) for each in pairs.pairs]
    one, other = (
        re.findall(r"Submission \d+", written(each, tmp_path / "class.html", anonymise=True))
        for each in (pairs, replace(pairs, documents=documents, pairs=found))
    )
    assert one == other


def test_a_folder_that_is_no_report_is_left_alone(pairs: Pairs, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<p>my page")
    with pytest.raises(FileError, match="is not a report"):
        write_report(pairs, site)
    assert (site / "index.html").read_text() == "<p>my page"
    folder = tmp_path / "class"
    write_report(pairs, folder)
    write_report(replace(pairs, pairs=pairs.pairs[:1]), folder)
    assert sorted(each.name for each in folder.iterdir()) == ["index.html", "pair-0001.html"]
    (folder / "grades.csv").write_text("mine")
    with pytest.raises(FileError, match="is not a report"):
        write_report(pairs, folder)
    assert (folder / "grades.csv").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["class", "site"]


@pytest.mark.parametrize("target", ["class.html", "class"])
def test_the_old_report_stays_if_the_new_one_fails(
    pairs: Pairs, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report(pairs, tmp_path / target)
    before = {each: each.read_bytes() for each in tmp_path.rglob("*.html") if each.is_file()}

    monkeypatch.setattr(reports, "pair_panes", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_report(pairs, tmp_path / target)
    assert {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()} == before


def many(documents: int) -> Pairs:
    """Return a chain: each document is like the next."""
    texts = [Document(f"d{number}", (DocumentFile("a.txt", f"word {number} " * 9),)) for number in range(documents)]
    found = [Pair(f"d{at}", f"d{at + 1}", 0.5, 0.5, 0.6, 0.7, 0.8, 9, []) for at in range(documents - 1)]
    counts: dict[str, Any] = {"total": len(found), "groups": 1, "compared": documents**2, "histogram": [5] * 50}
    return Pairs(documents=texts, pairs=found, measure="similarity", min_score=0.5, **counts)


def test_a_large_class_is_listed_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MAX_PAIRS_IN_FILE", 10)
    assert write_report(many(200), tmp_path / "class.html") == 10
    text = (tmp_path / "class.html").read_text()
    assert (text.count('<section class="pair"'), text.count("<tr id=")) == (10, 199)
    assert "The first 10 pairs" in text
    assert "Not drawn" in text  # 200 documents in one group
    assert '<table class="matrix">' not in text


def test_long_texts_are_few_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MAX_CHARS_IN_FILE", 1_000)
    assert 0 < write_report(many(50), tmp_path / "class.html") < 49


def test_nothing_found_is_said(tmp_path: Path) -> None:
    text = written(replace(many(3), pairs=[], total=0), tmp_path / "class.html")
    assert "<h1>No two have a similarity of 50 % or more</h1>" in text


@pytest.mark.parametrize("measure", ["resemblance", "containment", "longest"])
def test_every_measure_can_be_ranked_by(tmp_path: Path, measure: Measure) -> None:
    min_score = 5 if measure == "longest" else 0.5
    text = written(replace(many(4), measure=measure, min_score=min_score), tmp_path / "class.html")
    value = {"resemblance": "0.5", "containment": "0.7", "longest": "9"}[measure]
    assert text.count(f'data-value="{value}"') == 3


def test_base_text_is_grey_and_has_no_number(tmp_path: Path) -> None:
    given = parser("Given")
    documents = [
        Document(name, (DocumentFile("Main.java", given + program(*names)),))
        for name, names in (("ann", ("one", "two")), ("ben", ("three", "four")))
    ]
    scheme = PRESETS["code"]
    found = find_pairs(documents, scheme, exclusions=Exclusions([Boilerplate("base", given)], scheme))
    text = written(found, tmp_path / "class.html")
    grey = "".join(re.findall(r'<span class="boilerplate" title="boilerplate">(.*?)</span>', text, re.DOTALL))
    assert unescape(grey).count("String next() {") == 2
    assert "static int" not in grey
    assert not re.search(r"<mark[^>]*>[^<]*String next", text)
