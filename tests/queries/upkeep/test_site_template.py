from __future__ import annotations

import random
from itertools import combinations
from statistics import median
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Page, Scheme, compare
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.compare import Comparer, side
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.queries.upkeep.site_template import site_template, without_near_duplicates
from tests.public_pages import LUCENE, javadoc
from tests.record_fixtures import record_of

SMALL = Scheme(noise=6, guarantee=12, shingle=3)


def prose(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices([f"word{i}" for i in range(5_000)], k=words))


@pytest.mark.check
@given(st.integers(2, 12), st.integers(0, 12), st.sampled_from([0.25, 0.5, 0.8, 1.0]), st.integers(10, 30))
def test_a_text_is_in_the_template_if_enough_pages_have_it(pages: int, planted: int, share: float, words: int) -> None:
    planted = min(planted, pages)
    footer, seeds = prose(words, 1), range(10, 10 + pages)
    texts = [f"{prose(20, seed)} {footer if seed < planted + 10 else ''} {prose(15, -seed)}" for seed in seeds]
    template = site_template(texts, share=share)
    assert template == (footer if planted >= max(share * pages, 2) else "")


def test_reads_as_on_the_pages_with_each_run_once() -> None:
    menu, footer = "Home » News » About us;\nContact, Privacy & Terms", "© The Example Foundation. All rights reserved!"
    texts = [f"{menu}\n{prose(20, seed)}\n{footer}" for seed in range(10)]
    learned = site_template(texts, Scheme(shingle=4))
    assert learned == f"{menu}\n{footer.strip('© !')}"
    assert site_template([]) == ""
    assert site_template([prose(50, 1)]) == ""
    assert site_template(["", "…", ""]) == ""
    words = prose(40, 1).split()
    pages = [" ".join([*words[:place], f"here{place}", *words[place:], prose(20, place)]) for place in range(0, 40, 2)]
    assert site_template([*pages, f"{' '.join(words)} {prose(20, 99)}"]) == " ".join(words)


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=12).map(" ".join), max_size=6), st.floats(0.1, 1))
def test_the_shingles_of_the_template_are_those_on_many_pages(texts: list[str], share: float) -> None:
    """The template holds all of them, and no line holds anything else."""

    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[i : i + 3]) for i in range(max(len(words) - 2, min(len(words), 1)))}

    least = max(share * len(texts), 2)
    every = set().union(*map(shingles, texts))
    many = {each for each in every if sum(each in shingles(text) for text in texts) >= least}
    lines = site_template(texts, SMALL, share=share).splitlines()
    assert set().union(*map(shingles, lines)) == many
    assert len(lines) == len(set(lines))


def test_names_tell_the_language_of_code() -> None:
    header = "def main(words):\n    return [each.strip() for each in words if each] or None\n\nmain(sys.argv[1:])\n"
    texts = [f"{header}\nx{n} = {'+'.join('y' * n)}\n" for n in range(1, 6)]
    learned = site_template(texts, Scheme.preset("code"), names=[f"{n}.py" for n in range(5)])
    assert learned.startswith("def main(words)")
    with pytest.raises(ValueError, match="zip"):
        site_template(texts, names=["one.py"])


def test_near_duplicates_count_once() -> None:
    page, others = prose(400, 1), [prose(400, seed) for seed in range(2, 5)]
    edited = page.replace(page.split()[200], "changed")
    made = [record_of(Page("https://a.example/", text=text)) for text in (page, edited, *others, page)]
    kept = without_near_duplicates([b"", *(each.hashes.minhash for each in made)])
    assert kept == [1, 3, 4, 5]
    assert without_near_duplicates([each.hashes.minhash for each in made], below=0.0) == []
    assert without_near_duplicates([]) == []


def test_poisoning_is_of_the_poisoner_alone() -> None:
    """A text that a site copies onto all its pages becomes its template, and is still found from other sites."""
    article = prose(300, 1)
    copies = [f"{prose(100, seed)} {article} {prose(100, -seed)}" for seed in range(2, 22)]
    learned = site_template(copies)
    assert learned == article
    registered = [Boilerplate("t", learned, "copies.example", learned=True)]
    for a, b, sites in ((article, copies[0], ("victim.example", "copies.example")), (article, copies[0], (None, None))):
        assert compare(a, b, boilerplate=registered, sites=sites) == compare(a, b)
        assert compare(a, b, boilerplate=registered, sites=sites).containment == 1
        back = compare(b, a, boilerplate=registered, sites=(sites[1], sites[0]))
        assert (back.contained, len(back.passages), back.boilerplate) == (1, 1, [])
    among_themselves = compare(copies[0], copies[1], boilerplate=registered, sites=("copies.example", "copies.example"))
    assert among_themselves.resemblance < 0.01
    assert len(among_themselves.boilerplate) == 1


class Site(NamedTuple):
    name: str
    pages: list[Page]
    in_template: tuple[str, ...]
    words: tuple[int, int]  # lower and upper bound on the words of the template, both exclusive


@pytest.fixture(params=["public", pytest.param("further", marks=pytest.mark.check)])
def site(request: pytest.FixtureRequest) -> Site:
    if request.param == "public":
        there: tuple[str, ...] = ("Skip navigation links", "Apache Software Foundation")
        return Site("lucene.example", list(javadoc(LUCENE[0]))[::8], there, (60, 150))
    paths = sorted(request.getfixturevalue("unpacked")("spdx-license-pages").rglob("*.html"))[::8]
    pages = [Page(url=f"https://spdx.org/licenses/{path.name}", html=path.read_bytes()) for path in paths]
    there = ("Software Package Data Exchange (SPDX)", "Linux is a registered trademark of Linus Torvalds.")
    return Site("spdx.org", pages, there, (80, 250))


def test_the_template_of_a_real_site(site: Site) -> None:
    made = list(map(record_of, site.pages))
    assert len(made) > 100
    learned = site_template(
        [made[index].text for index in without_near_duplicates([each.hashes.minhash for each in made])]
    )
    assert all(text in learned for text in site.in_template), learned
    least, most = site.words
    assert least < len(canonical_text(learned).words) < most
    exclusions = Exclusions([Boilerplate("t", learned, site.name, learned=True)])
    sides = [side(each.text, Scheme(), site=site.name) for each in made[:60]]
    before = median(Comparer(Scheme()).scores(a, b).containment for a, b in combinations(sides, 2))
    after = median(Comparer(Scheme(), exclusions).scores(a, b).containment for a, b in combinations(sides, 2))
    assert before > 0.05
    assert after < 0.002
