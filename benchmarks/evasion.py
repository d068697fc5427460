"""Measures what is found of copies that somebody disguised, by scheme and by the strength of the disguise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.evasion_attacks import ATTACKS, Attack, Material
from benchmarks.evasion_plots import write_plots
from benchmarks.table import Run, Table, percent
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.quality.corpora import public_pages, records

QUESTIONS = 100
LENGTHS = 2_000, 6_000  # characters of a copied page
HITS = 10
SCHEMES = {
    "pages": Scheme(),
    "folded": Scheme(fold_confusables=True),
    "keyed": Scheme(key="a secret"),
    "passages": Scheme.preset("passages"),
    "consonants": Scheme.preset("consonants"),
    "koala": Scheme.preset("koala"),
}
MAX_PAGES_OF_A_LINE = 20  # a line on more pages is the template of a site
SITE_PAGES = 20  # of the attacker's site, all with the template
TEMPLATE_WORDS = 4_000
FLOODS = (0, 10, 1_200)  # pages; fingerprints on more than 1,000 pages are frequent
FLOODED = 5  # questions
FLOODED_SCHEMES = ("pages", "passages", "koala")
PASSAGE = 50  # words
FLOOD = "A flood of pages with the same passages"
WORKERS = 2

Found = dict[tuple[str, float], str]  # by title and strength: what is found of all questions


class Corpus(NamedTuple):
    texts: dict[str, str]  # by URL
    copied: list[str]
    material: Material
    floods: list[int]


def tables(run: Run) -> Iterator[Table]:
    corpus = made_corpus(run)
    with ProcessPoolExecutor(WORKERS) as pool:
        found = dict(zip(SCHEMES, pool.map(partial(found_with, corpus), SCHEMES), strict=True))
    made = [attack_table(attack, found) for attack in ATTACKS]
    rows = [(f"{each:,}", *(found[name][FLOOD, each] for name in FLOODED_SCHEMES)) for each in corpus.floods]
    made.append(Table(FLOOD, ("pages added", *map(code, FLOODED_SCHEMES)), rows, note(corpus)))
    yield from made
    if run.scale >= 1:
        write_plots(made)


def made_corpus(run: Run) -> Corpus:
    texts = without_templates(islice(public_pages(one_in=4), run.size(3_000, least=60)))
    random = Random(1)
    words = list(chain.from_iterable(text.split() for text in texts.values()))
    # In English, because the letters that attacks replace are Latin.
    fitting = [text for text in texts.values() if LENGTHS[0] <= len(text) <= LENGTHS[1] and is_mostly_ascii(text)]
    count = run.size(QUESTIONS, least=2)
    copied = fitting[:: max(len(fitting) // count, 1)][:count]
    floods = [each for each in FLOODS if each <= run.size(max(FLOODS))]
    return Corpus(texts, copied, Material(words, random.choices(words, k=TEMPLATE_WORDS)), floods)


def is_mostly_ascii(text: str) -> bool:
    return sum(char.isascii() for char in text) > 0.95 * len(text)


def without_templates(pages: Iterable[Page]) -> dict[str, str]:
    """Return the text of each page by URL, without lines that are on many pages."""
    lines = {each.url: (each.text or "").splitlines() for each in records(pages)}
    on_pages = Counter(chain.from_iterable(map(set, lines.values())))
    return {url: "\n".join(line for line in own if on_pages[line] <= MAX_PAGES_OF_A_LINE) for url, own in lines.items()}


def found_with(corpus: Corpus, name: str) -> Found:
    """Return what a scheme finds, of every attack that it takes part in."""
    random = Random(2)
    found: Found = {}
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        with Index.open(Path(folder, "pages.winnow")) as index:
            index.add(Page(url, text=text) for url, text in corpus.texts.items())
            # A copy counts as found if its source is, or a near-duplicate of it.
            sources = [
                {match.url for match in index.similar(text=text, min_resemblance=0.5, limit=None)}
                for text in corpus.copied
            ]
        with Index.open(Path(folder, f"{name}.winnow"), scheme=SCHEMES[name]) as index:
            index.add(Page(url, text=text) for url, text in corpus.texts.items())
            index.add(attackers_site(corpus.material, random))
            for attack in ATTACKS:
                for strength in attack.strengths if name in attack.schemes else ():
                    random = Random(f"{attack.name} {strength}")
                    hits = [
                        hits_of(index, attack.apply(text, strength, random, corpus.material), attack.options)
                        for text in corpus.copied
                    ]
                    found[attack.title, strength] = cell(hits, sources)
            added = 0
            for flood in corpus.floods if name in FLOODED_SCHEMES else ():
                index.add(flood_pages(corpus.copied[:FLOODED], range(added, flood)))
                added = flood
                halves = (text[: len(text) // 2] for text in corpus.copied[:FLOODED])
                hits = [hits_of(index, {"text": half}, {"min_containment": 0}) for half in halves]
                found[FLOOD, flood] = cell(hits, sources[:FLOODED])
    return found


def hits_of(index: Index, copy: dict[str, str], options: dict[str, float]) -> list[str]:
    return [hit.url for hit in index.similar(**copy, **options, limit=HITS)]  # type: ignore[call-overload]


def cell(hits: Sequence[list[str]], sources: Sequence[set[str]]) -> str:
    """Return the share of questions whose source is the first hit, and the share where it is among the first."""
    first = sum(bool(each) and each[0] in urls for each, urls in zip(hits, sources, strict=True))
    among = sum(not urls.isdisjoint(each) for each, urls in zip(hits, sources, strict=True))
    return " · ".join(percent(count / len(hits)) for count in (first, among))


def attackers_site(material: Material, random: Random) -> Iterator[Page]:
    for number in range(SITE_PAGES):
        own = material.random_words(200, random)
        yield Page(f"https://attacker.example/{number}", text=" ".join([*own, *material.template]))


def flood_pages(texts: Sequence[str], numbers: range) -> Iterator[Page]:
    """Yield pages with all passages of the texts in random order, so that their fingerprints become frequent."""
    words = list(chain.from_iterable(text.split() for text in texts))
    passages = [" ".join(words[i : i + PASSAGE]) for i in range(0, len(words), PASSAGE)]
    for number in numbers:
        shuffled = Random(number).sample(passages, len(passages))
        yield Page(f"https://flood.example/{number}", text="\n\n".join(shuffled))


def attack_table(attack: Attack, found: dict[str, Found]) -> Table:
    rows = [
        (f"{strength:g}", *(found[name][attack.title, strength] for name in attack.schemes))
        for strength in attack.strengths
    ]
    return Table(attack.title, (attack.strength, *map(code, attack.schemes)), rows)


def note(corpus: Corpus) -> str:
    return (
        f"In all tables, disguised copies of {len(corpus.copied)} English public pages of {LENGTHS[0]:,} to"
        f" {LENGTHS[1]:,} characters are looked up in a store of {len(corpus.texts):,} pages, without the lines that"
        f" are on more than {MAX_PAGES_OF_A_LINE} of these. The first number is the share of copies whose source, or a"
        f" near-duplicate of it, is the first hit; the second is the share where it is among the first {HITS}. `folded`"
        " is `pages` with `fold_confusables`, and `keyed` is `pages` with a key. For the flood, half of each of"
        f" {FLOODED} pages is looked up. Every added page has all words of these, in passages of {PASSAGE} words and in"
        " random order."
    )


def code(name: str) -> str:
    return f"`{name}`"
