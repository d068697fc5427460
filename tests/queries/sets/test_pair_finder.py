"""The pairs of a set of documents, beside comparisons of each two."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, compare
from opensearch_winnow.queries.sets.pair_finder import find_pairs
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile, Pairs
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.types import Boilerplate

SCHEME = Scheme(noise=6, guarantee=9, shingle=2)
CODE = Scheme(form="code", noise=4, guarantee=6, shingle=3)
WORDS = st.lists(st.sampled_from(["mill", "water", "wheel", "grain", "a", "of", "stone"]), max_size=25).map(" ".join)


def document(id_: str, *texts: str, owner: str = "", earlier: bool = False, site: str | None = None) -> Document:
    files = tuple(DocumentFile(f"{number}.py", text) for number, text in enumerate(texts))
    return Document(id_, files, owner, earlier, site)


def documents(*texts: str) -> list[Document]:
    return [document(str(number), text) for number, text in enumerate(texts)]


def names(found: Pairs) -> list[tuple[str, str]]:
    return [(pair.a, pair.b) for pair in found.pairs]


@given(st.lists(WORDS, max_size=6), WORDS, st.sampled_from([SCHEME, CODE]))
def test_pairs_are_those_that_compare_finds(texts: list[str], base: str, scheme: Scheme) -> None:
    boilerplate = [Boilerplate("base.py", base)]
    found = find_pairs(documents(*texts), scheme, exclusions=Exclusions(boilerplate, scheme))
    by_name = {(int(pair.a), int(pair.b)): pair for pair in found.pairs}
    compared = len(found.documents)
    assert found.compared == compared * (compared - 1) // 2 == sum(found.histogram)
    assert compared + len(found.not_compared) == len(texts) == found.submitted
    for a, b in combinations(range(len(texts)), 2):
        wanted = compare(texts[a], texts[b], scheme, names=("0.py", "0.py"), boilerplate=boilerplate)
        pair = by_name.get((a, b))
        assert (pair is None) == (not wanted.resemblance)
        if pair:
            scores = wanted.resemblance, wanted.containment, wanted.contained
            assert (pair.resemblance, pair.containment, pair.contained) == scores
            found_passages = [(each.start, each.end, each.other_start, each.other_end) for each in pair.passages]
            assert found_passages == [tuple(each) for each in wanted.passages]
    # By the longest passage, every pair with a passage is found.
    found = find_pairs(documents(*texts), SCHEME, measure="longest")
    both = combinations(enumerate(texts), 2)
    assert {*names(found)} == {
        (str(a), str(b)) for (a, one), (b, other) in both if compare(one, other, SCHEME).passages
    }
    assert [pair.longest for pair in found.pairs] == sorted((pair.longest for pair in found.pairs), reverse=True)


@given(st.lists(st.lists(WORDS, max_size=3), max_size=4))
def test_nothing_runs_across_the_files_of_a_document(texts: list[list[str]]) -> None:
    found = find_pairs([document(str(number), *files) for number, files in enumerate(texts)], SCHEME)
    for pair in found.pairs:
        ours, theirs = texts[int(pair.a)], texts[int(pair.b)]
        for each in pair.passages:
            assert (each.file, each.other_file) == (f"{each.file_number}.py", f"{each.other_file_number}.py")
            one = ours[each.file_number][each.start : each.end]
            other = theirs[each.other_file_number][each.other_start : each.other_end]
            assert one.replace(" ", "") == other.replace(" ", "")
            assert each.words == len(one.split())
        assert 0 <= pair.coverage <= 1
        assert (pair.coverage > 0) == bool(pair.passages)


SENTENCES = [
    "the mill by the river was built of stone and its wheel turned day and night for a hundred years",
    "a painter of the old school lived for twenty years in a narrow house with a blue door and one cat",
    "every ship that left the harbour in that spring carried wool and salt and letters nobody would read",
]


def test_neither_two_documents_of_one_owner_nor_two_earlier_ones_are_compared() -> None:
    copies = [document(name, SENTENCES[0], owner=owner) for name, owner in (("a", "x"), ("b", "x"), ("c", "y"))]
    found = find_pairs(copies, SCHEME)
    assert names(found) == [("a", "c"), ("b", "c")]
    assert found.compared == 2
    of_nobody = documents(SENTENCES[0], SENTENCES[0])
    assert find_pairs(of_nobody, SCHEME).compared == 1
    set_of = [document(str(n), SENTENCES[0], earlier=n < 2, owner="x" if n in (0, 3) else "") for n in range(4)]
    found = find_pairs(set_of, SCHEME)
    assert names(found) == [("2", "0"), ("2", "1"), ("2", "3"), ("3", "1")]
    assert found.compared == 4


@pytest.mark.parametrize("measure", ["similarity", "resemblance", "containment", "longest"])
def test_the_limit_keeps_the_best_and_the_total_counts_all(measure: str) -> None:
    texts = [SENTENCES[0], SENTENCES[0], f"{SENTENCES[0]} {SENTENCES[1]}", SENTENCES[1]]
    everything = find_pairs(documents(*texts), SCHEME, measure=measure)  # type: ignore[arg-type]
    some = find_pairs(documents(*texts), SCHEME, measure=measure, limit=2)  # type: ignore[arg-type]
    assert some.pairs == everything.pairs[:2]
    assert some.total == everything.total == len(everything.pairs) == 4
    assert some.groups == everything.groups == 1


def test_the_template_of_a_site_does_not_count_between_its_pages() -> None:
    template = Boilerplate("template", SENTENCES[2], site="a.org")
    texts = zip("ab", SENTENCES, strict=False)
    pages = [document(name, f"{SENTENCES[2]} {text}", site="a.org") for name, text in texts]
    pages.append(document("c", SENTENCES[2], site="b.org"))
    found = find_pairs(pages, SCHEME, exclusions=Exclusions([template], SCHEME))
    for pair in found.pairs:
        a, b = ("abc".index(each) for each in (pair.a, pair.b))
        both, sites = (pages[a].files[0].text, pages[b].files[0].text), (pages[a].site, pages[b].site)
        wanted = compare(*both, SCHEME, boilerplate=[template], sites=sites)
        assert pair.resemblance == wanted.resemblance
        assert len(pair.passages) == len(wanted.passages)
    assert names(found) == [("a", "c"), ("b", "c")]


def test_passages_that_the_scheme_does_not_guarantee_are_found() -> None:
    scheme = Scheme(noise=20, guarantee=200)
    shared = SENTENCES[0][:40]
    texts = f"{SENTENCES[1]} {shared} {SENTENCES[1]}", f"{SENTENCES[2]} {shared} {SENTENCES[2]}"
    assert compare(*texts, scheme).passages == []
    assert [len(pair.passages) for pair in find_pairs(documents(*texts), scheme, measure="longest").pairs] == [1]
    assert find_pairs([]).pairs == find_pairs(documents("", "", "x")).pairs == []
