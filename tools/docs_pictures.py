"""Draws the pictures of docs/how-it-works.md, with numbers that the library computes.

`make docs` writes them to docs/pictures/*.svg. tests/test_docs_pictures.py fails if one is out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from opensearch_winnow import Index, Page, Scheme, compare, fingerprint
from opensearch_winnow.clusters.options import Linkage
from opensearch_winnow.cython_core.minhash import bands, minhash
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.mappings.record import Record
from tests.cython_core.reference import HASH_BITS, kgrams, window_picks
from tools.rooms_picture import rooms
from tools.svg_picture import Picture

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"

SMALL = Scheme(noise=5, guarantee=8)
MILLER = "The miller keeps two sieves."
DOOR = "Two sieves by the door, both dry."


def first_digits(chars: str) -> list[int]:
    """Return the hash of each k-gram of `chars`, scaled to 0 to 999, which tells these few apart."""
    return [number * 1_000 >> HASH_BITS for number in kgrams(chars, SMALL.k)]


# --- k-grams, hashes, windows, fingerprints ---------------------------------------------------------------------------


def winnowing() -> Picture:
    chars = canonical(MILLER, SMALL).chars
    numbers = first_digits(chars)
    prints = fingerprint(MILLER, SMALL)
    picks = window_picks(kgrams(chars, SMALL.k), SMALL.w, robust=True)
    assert sorted(set(picks)) == list(prints.positions)
    left, cell = 190, 28
    picture = Picture(
        900,
        470,
        "Winnowing of a short sentence",
        f"The sentence “{MILLER}” becomes {len(chars)} letters, {len(numbers)} k-grams of {SMALL.k} letters, and a"
        f" number for each. The smallest of every {SMALL.w} numbers in a row is kept: {len(prints)} fingerprints.",
    )

    def middle(i: int) -> float:
        return left + cell * (i + 0.5)

    picture.label(24, 42, "text")
    picture.text(left, 42, MILLER, "mono")
    picture.label(24, 82, "canonical text")
    for i, char in enumerate(chars):
        picture.cell(left + cell * i, 64, cell, char)
    picture.label(24, 120, f"k-grams, k = {SMALL.k}")
    for row in range(4):
        for i in range(row, row + SMALL.k):
            picture.text(middle(i), 120 + 20 * row, chars[i], "mono middle quiet")
    picture.text(middle(7), 160, "… one starts at every letter", "quiet")
    picture.label(24, 226, "a number for each")
    for i, number in enumerate(numbers):
        picture.cell(left + cell * i, 208, cell, str(number), "pick" if i in prints.positions else "small")
    picture.label(24, 264, f"windows, w = {SMALL.w}")
    picture.text(24, 284, "● the smallest", "quiet")
    for start, pick in enumerate(picks):
        y = 258 + 9 * start
        picture.line(left + cell * start + 4, y, left + cell * (start + SMALL.w) - 4, y, "window")
        picture.dot(middle(pick), y)
    picture.label(24, 440, "fingerprints")
    for pick in prints.positions:
        picture.text(middle(pick), 440, str(numbers[pick]), "strong middle")
    return picture


# --- why a shared run is found ----------------------------------------------------------------------------------------


def guarantee() -> Picture:
    one, other = (canonical(text, SMALL).chars for text in (MILLER, DOOR))
    [passage] = compare(MILLER, DOOR, SMALL).passages
    run = canonical(MILLER[passage.start : passage.end], SMALL).chars
    left, cell = 60, 32
    picture = Picture(
        900,
        330,
        "Two texts that share a run pick the same fingerprint",
        f"Both texts have “{run}”, {len(run)} letters. A window of {SMALL.w} numbers inside it is the same in both,"
        " so both keep its smallest number.",
    )
    shared = {}
    for y, chars, name in ((70, one, "A"), (210, other, "B")):
        numbers = first_digits(chars)
        kept = set(fingerprint(chars, SMALL).positions)
        start = chars.index(run)
        grams = range(start, start + len(run) - SMALL.k + 1)
        picture.text(28, y + 18, name, "strong")
        for i, char in enumerate(chars[:26]):
            inside = start <= i < start + len(run)
            picture.cell(left + cell * i, y, cell, char, "shared" if inside else "")
        for i, number in enumerate(numbers[:26]):
            shade = "pick" if i in kept and i in grams else "small" if i in grams else "faint"
            picture.cell(left + cell * i, y + 30, cell, str(number), shade)
        (shared[name],) = (
            position for position in kept if position in grams and numbers[position] == min(numbers[i] for i in grams)
        )
        first = left + cell * start
        picture.frame(first - 3, y + 26, cell * SMALL.w + 6, 36)
    ends = (left + cell * (shared["A"] + 0.5), 136, left + cell * (shared["B"] + 0.5), 236)
    picture.line(ends[0], ends[1], ends[2], ends[3] - 30, "link")
    picture.text(28, 34, f"a shared run of {SMALL.t} letters or more contains a whole window of {SMALL.w} numbers", "")
    picture.text(28, 310, f"t = w + k − 1 = {SMALL.w} + {SMALL.k} − 1 = {SMALL.t}", "quiet")
    return picture


# --- shingles and sketches --------------------------------------------------------------------------------------------


def shingles_and_sketches() -> Picture:
    width, modulus = 3, 3
    scheme = Scheme(shingle=width, noise=5, guarantee=8)
    a = "the miller keeps two sieves by the door and a cat by the mill"
    b = "the miller keeps two sieves by the window and a cat by the mill"
    parts, sketches = [], []
    for text in (a, b):
        words = text.split()
        hashes = shingles(canonical(text, scheme), width)
        parts.append({" ".join(words[i : i + width]): hashes[i] for i in range(len(hashes))})
        sketches.append(set(mod_sketch(hashes, modulus)))
    score = compare(a, b, scheme)
    both = [each for each in parts[0] if each in parts[1]]
    columns = (
        ("only in A", [each for each in parts[0] if each not in parts[1]]),
        ("in both", both),
        ("only in B", [each for each in parts[1] if each not in parts[0]]),
    )
    every = {**parts[0], **parts[1]}
    picture = Picture(
        900,
        400,
        "Shingles of two sentences, and their sketches",
        f"{len(both)} of {len(every)} runs of {width} words are in both: resemblance {score.resemblance:.2f}.",
    )
    picture.text(28, 38, f"A  {a}", "mono")
    picture.text(28, 62, f"B  {b}", "mono")
    for column, (name, listed) in enumerate(columns):
        x = 28 + 290 * column
        picture.text(x, 102, name, "strong")
        for row, each in enumerate(listed):
            kept = every[each] in sketches[0] | sketches[1]
            picture.text(x, 130 + 24 * row, f"{'●' if kept else '·'} {each}", "mono" if kept else "mono quiet")
    sampled, shared = sketches[0] | sketches[1], sketches[0] & sketches[1]
    picture.text(28, 352, f"resemblance: {len(both)} of {len(every)} = {score.resemblance:.2f}", "strong")
    picture.text(
        28,
        378,
        f"● in the sketch, one in {modulus} by its hash: {len(shared)} of {len(sampled)} = "
        f"{len(shared) / len(sampled):.2f}, an estimate of the resemblance",
        "quiet",
    )
    return picture


# --- bands ------------------------------------------------------------------------------------------------------------


def bands_curve() -> Picture:
    scheme = Scheme()
    left, top, width, height = 80, 60, 760, 300

    def at(resemblance: float, chance: float) -> tuple[float, float]:
        return left + width * resemblance, top + height * (1 - chance)

    picture = Picture(
        900,
        430,
        "The chance that two pages share a band",
        f"Pages with a resemblance of .5 share one of {scheme.bands} bands of {scheme.rows} values in"
        f" {100 * chance_of_a_band(0.5, scheme):.0f} % of cases, at .7 nearly always, at .2 rarely.",
    )
    picture.text(left, 34, f"share of pairs with an equal band, of {scheme.bands} bands of {scheme.rows} values", "")
    for tenth in range(0, 11, 2):
        x, y = at(tenth / 10, tenth / 10)
        picture.line(left, y, left + width, y, "grid")
        picture.text(left - 10, y + 5, f"{10 * tenth} %", "end quiet")
        picture.text(x, top + height + 24, f"{tenth / 10:g}", "middle quiet")
    picture.text(left + width, top + height + 48, "resemblance of the two pages", "end")
    picture.path([at(i / 100, chance_of_a_band(i / 100, scheme)) for i in range(101)], "curve")
    for resemblance, chance in measured_bands(scheme):
        picture.dot(*at(resemblance, chance), radius=5)
    picture.text(left, top + height + 48, "— 1 − (1 − r⁴)³²     ● measured, 200 pairs each", "quiet")
    return picture


def chance_of_a_band(resemblance: float, scheme: Scheme) -> float:
    return float(1 - (1 - resemblance**scheme.rows) ** scheme.bands)


def measured_bands(scheme: Scheme, pairs: int = 200, count: int = 300) -> Iterator[tuple[float, float]]:
    """Yield each resemblance with the share of pairs with an equal band; each pair has `count` shingles in all."""
    random = Random(9)
    for tenth in range(1, 10):
        met = 0
        for _ in range(pairs):
            every = distinct(random_hashes(random, count))
            both = count * tenth // 10
            half = (count - both) // 2
            chosen = random.sample(list(every), count)
            one, other = chosen[: both + half], chosen[:both] + chosen[both + half :]
            met += not set(_bands(one, scheme)).isdisjoint(_bands(other, scheme))
        yield tenth / 10, met / pairs


def random_hashes(random: Random, count: int) -> memoryview:
    return memoryview(random.randbytes(8 * count)).cast("Q")


def _bands(chosen: list[int], scheme: Scheme) -> list[int]:
    data = distinct(memoryview(b"".join(each.to_bytes(8, "little") for each in chosen)).cast("Q"))
    return list(bands(minhash(data, scheme.bins), scheme.bands, scheme.rows))


# --- candidates, scores, passages -------------------------------------------------------------------------------------


def question() -> Picture:
    examples = ROOT / "docs" / "examples"
    texts = {name: (examples / f"{name}.txt").read_text(encoding="utf-8") for name in ("miller", "almanac")}
    others = [Page(f"https://example.org/{n}", text=f"Wave {n} came and went, and so did the wind.") for n in range(97)]
    with TemporaryDirectory() as folder, Index.open(f"{folder}/q.winnow") as index:
        index.add(
            [
                *(Page(f"https://example.org/{name}", text=text) for name, text in texts.items()),
                Page("https://example.org/mirror", html=(examples / "mirror.html").read_bytes()),
                *others,
            ]
        )
        pages = index.store.count()
        matches = index.similar(url="https://example.org/miller", min_containment=0)
    boxes = [
        ("question", "the miller’s page", f"has {matches.tokens} hashes", "to look up"),
        ("candidates", f"{matches.candidates} of {pages} pages", "have one of them;", "no text was read yet"),
        (
            "scores",
            " and ".join(f"{match.containment:.0%}".replace("%", " %") for match in matches),
            "of it are in these;",
            "from both texts, exactly",
        ),
        (
            "passages",
            " and ".join(str(len(match.passages)) for match in matches),
            "shared runs, character",
            "by character",
        ),
    ]
    picture = Picture(
        900,
        190,
        "From a question to passages",
        f"{matches.candidates} of {pages} pages share a hash with the question; their texts are compared exactly.",
    )
    for number, (name, first, *rest) in enumerate(boxes):
        x = 20 + 220 * number
        picture.box(x, 24, 190, 140)
        picture.text(x + 95, 54, name, "middle quiet")
        picture.text(x + 95, 88, first, "middle strong")
        for row, line in enumerate(rest):
            picture.text(x + 95, 116 + 22 * row, line, "middle")
        if number:
            picture.arrow(x - 28, 94, x - 4)
    return picture


# --- groups are not chains ------------------------------------------------------------------------------------------


def chains() -> Picture:
    texts = _sliding_pages()
    names = list(texts)
    score = {(a, b): compare(texts[a], texts[b]).resemblance for i, a in enumerate(names) for b in names[i + 1 :]}
    picture = Picture(
        900,
        370,
        "A chain, and clusters that are not chains",
        "Each page resembles the next by at least .5, but the first and the last have nothing in common. As a chain"
        " they are one cluster; around representatives they are three.",
    )
    shown: tuple[tuple[int, Linkage, str], ...] = (
        (100, "components", "as a chain: one cluster, in which the first and the last page share nothing"),
        (270, "representatives", "around representatives: every member resembles the earliest page by .5 or more"),
    )
    for y, linkage, words in shown:
        clusters = _clusters(texts, linkage)
        picture.text(28, y - 52, words, "")
        for number, name in enumerate(names):
            x = 110 + 170 * number
            if number + 1 < len(names):
                near = score[name, names[number + 1]]
                linked = clusters[name] == clusters[names[number + 1]]
                picture.line(x + 26, y, x + 144, y, "link" if linked else "grid")
                picture.text(x + 85, y - 10, f"{near:.2f}", "middle" if linked else "middle quiet")
            colour = sorted(set(clusters.values()), key=[clusters[each] for each in names].index).index(clusters[name])
            first = name == next(each for each in names if clusters[each] == clusters[name])
            picture.ball(x, y, name, colour, ring=first)
    picture.text(28, 340, f"first and last: {score[names[0], names[-1]]:.2f}     ◎ representative", "quiet")
    return picture


def _sliding_pages() -> dict[str, str]:
    """Return five pages of twelve sentences; each drops the first three of the page before, and adds three new ones."""
    sentences = [
        f"On day {number} the miller of the valley ground {number * 7 % 31} sacks and sold {number * 5 % 23} of them."
        for number in range(24)
    ]
    return {name: " ".join(sentences[3 * i : 3 * i + 12]) for i, name in enumerate("ABCDE")}


def _clusters(texts: dict[str, str], linkage: Linkage) -> dict[str, str]:
    with TemporaryDirectory() as folder, Index.open(f"{folder}/c.winnow") as index:
        index.add(Page(name, text=text) for name, text in texts.items())
        index.cluster(threshold=0.5, linkage=linkage)
        return {record.url: record.cluster for record in index.store.scan(Record)}


DRAWINGS: dict[str, Callable[[], Picture]] = {
    "winnowing": winnowing,
    "guarantee": guarantee,
    "shingles": shingles_and_sketches,
    "bands": bands_curve,
    "question": question,
    "chains": chains,
    "rooms": rooms,
}


def main() -> None:
    for name, draw in DRAWINGS.items():
        (PICTURES / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
