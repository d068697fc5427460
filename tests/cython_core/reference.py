"""The core in plain Python: short, slow, and written to be read.

Each function computes what the compiled function of the same name does. The tests compare the two on generated input.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Posting = tuple[int, int]  # token and page
Pair = tuple[int, int]  # page numbers, the earlier first
WORD = 0xFFFF_FFFF_FFFF_FFFF  # the arithmetic is modulo 2**64


# --- hashing.pxd ------------------------------------------------------------------------------------------------------


def mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def char_value(char: str, key: int = 0) -> int:
    return mix((key + (ord(char) + 1) * 0x9E3779B97F4A7C15) & WORD)


def radix(key: int = 0) -> int:
    return (mix(key ^ 0xD1B54A32D192ED03) & ~7) | 5


def polynomial(values: list[int], base: int) -> int:
    """Return values[0] * base**(n-1) + … + values[n-1]: the hash of Karp and Rabin."""
    total = 0
    for value in values:
        total = (total * base + value) & WORD
    return total


# --- overlap.pyx ------------------------------------------------------------------------------------------------------


def overlap(a: Iterable[int], b: Iterable[int]) -> int:
    return len(set(a) & set(b))


def difference(a: Iterable[int], b: Iterable[int]) -> list[int]:
    return sorted(set(a) - set(b))


def matching_runs(values: list[int], known: Iterable[int]) -> list[tuple[int, int]]:
    """Return the maximal runs of consecutive values that are all in `known`, as (start, end)."""
    inside = [False, *(value in set(known) for value in values), False]
    edges = [i for i in range(len(values) + 1) if inside[i] != inside[i + 1]]
    return list(zip(edges[::2], edges[1::2], strict=True))


# --- components.pyx ---------------------------------------------------------------------------------------------------


def labels(n: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return for each of the members 0 … n-1 the smallest member of its connected component."""
    label = list(range(n))
    for a, b in pairs:
        low, high = sorted((label[a], label[b]))
        label = [low if each == high else each for each in label]
    return label


# --- kgram_hashes.pyx -------------------------------------------------------------------------------------------------

HASH_BITS = 61


def kgrams(chars: str, k: int, key: int = 0) -> list[int]:
    """Return the 61-bit hash of each k-gram, by which selections order them; mix() of it is the fingerprint."""
    values = [char_value(char, key) for char in chars]
    return [polynomial(values[i : i + k], radix(key)) >> (64 - HASH_BITS) for i in range(len(chars) - k + 1)]


# --- window_minima.pyx ------------------------------------------------------------------------------------------------


def window_picks(keys: list[int], w: int, robust: bool) -> list[int]:
    """Return what each window picks: Definition 1 of the winnowing paper, or with `robust` Definition 3."""
    picks: list[int] = []
    for start in range(len(keys) - w + 1):
        window = range(start, start + w)
        smallest = min(keys[i] for i in window)
        if robust and picks and picks[-1] >= start and keys[picks[-1]] == smallest:
            picks.append(picks[-1])
        else:
            picks.append(max(i for i in window if keys[i] == smallest))
    return picks


def window_minima(keys: list[int], w: int, robust: bool = True) -> list[int]:
    return sorted(set(window_picks(keys, w, robust)))


# --- fingerprints.pyx -------------------------------------------------------------------------------------------------

SMALL_GRAM = 4


def fingerprints(
    chars: str, k: int, w: int, selection: str = "winnow", key: int = 0, robust: bool = True
) -> list[tuple[int, int]]:
    hashes = kgrams(chars, k, key)
    if not hashes:
        return []
    if selection == "mod-p":
        p = (w + 1) // 2
        chosen = [i for i, hash_ in enumerate(hashes) if mix(hash_) % p == 0]
    elif len(hashes) < w:
        chosen = window_minima(hashes, len(hashes), robust)
    elif selection == "winnow":
        chosen = window_minima(hashes, w, robust)
    elif selection == "open-closed":
        chosen = window_minima(open_closed_keys(chars, hashes, k, key), w, robust)
    else:
        chosen = mod_minimizers(chars, hashes, k, w, key, robust)
    return [(mix(hashes[i]), i) for i in chosen]


def rare_grams(chars: str, k: int, size: int, key: int = 0) -> list[tuple[int, int]]:
    """Return k-grams as (hash, position), first those whose first five characters are the rarest in the text."""
    hashes = kgrams(chars, k, key)
    beginnings = [chars[i : i + min(k, 5)] for i in range(len(hashes))]
    counts = Counter(beginnings)
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for i, (token, rank) in enumerate(divmod(mix(hash_), 1 << 32) for hash_ in hashes):
        first.setdefault((counts[beginnings[i]], rank), (token, i))
    return [first[key] for key in sorted(first)[:size]]


def open_closed_keys(chars: str, hashes: list[int], k: int, key: int) -> list[int]:
    """Return keys that rank k-grams with the smallest small gram in the middle first, then those with it at an end."""
    small = min(SMALL_GRAM, k)
    picks = window_picks(kgrams(chars, small, key), k - small + 1, robust=False)
    keys = []
    for i, (hash_, pick) in enumerate(zip(hashes, picks, strict=True)):
        kind = 0 if pick - i == (k - small) // 2 else 1 if pick - i in (0, k - small) else 2
        keys.append((kind << HASH_BITS) + hash_)
    return keys


def mod_minimizers(chars: str, hashes: list[int], k: int, w: int, key: int, robust: bool) -> list[int]:
    """Pick from each window the k-gram at the position of its smallest small gram, mod w.

    With `robust`, a window keeps the last pick if it holds it and both k-grams are equal.
    """
    small = k if k < SMALL_GRAM else SMALL_GRAM + (k - SMALL_GRAM) % w
    chosen: list[int] = []
    for start, smallest in enumerate(window_picks(kgrams(chars, small, key), w + k - small, robust=False)):
        pick = start + (smallest - start) % w
        if robust and chosen and chosen[-1] >= start and hashes[chosen[-1]] == hashes[pick]:
            continue
        chosen.append(pick)
    return sorted(set(chosen))


# --- passages.pyx -----------------------------------------------------------------------------------------------------


def shared_runs(a: Sequence[str], b: Sequence[str], k: int) -> list[tuple[int, int, int, int]]:
    """Return every maximal run of at least k equal characters, or words, as (start, end, other_start, other_end)."""
    runs = []
    for diagonal in range(-len(a), len(b)):
        start = None
        for i in range(max(0, -diagonal), min(len(a), len(b) - diagonal) + 1):
            if i < min(len(a), len(b) - diagonal) and a[i] == b[i + diagonal]:
                start = i if start is None else start
            elif start is not None:
                if i - start >= k:
                    runs.append((start, i, start + diagonal, i + diagonal))
                start = None
    return sorted(runs)


# --- canonical_text.pyx -----------------------------------------------------------------------------------------------

COMBINING_IOTA = "\u0345"
UNSPACED = r"(?!\p{Nd})[\p{LB=ID}\p{LB=CJ}\p{LB=NS}\p{LB=SA}\p{LB=AK}\p{LB=AP}\p{LB=AS}\p{Ideographic}]"


def canonical_text(
    text: str, consonants: bool = False, looks: Mapping[str, str] | None = None
) -> tuple[str, list[int], list[int]]:
    """Return the canonical characters, the indices where words start, and the offset in the text of each character.

    `looks` has what stands for each letter that looks like others.
    """
    import regex  # noqa: PLC0415  # both have Unicode 18.0, which Python may lack; only tests need them
    import unicodedata2 as ucd  # noqa: PLC0415

    is_ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}").match
    is_unspaced = regex.compile(UNSPACED).match

    # Drop ignorable characters. Split the rest into bases, each with the marks that follow it and have a combining
    # class. The text begins as if after a space.
    clusters: list[tuple[tuple[str, int], list[tuple[str, int]]]] = [((" ", 0), [])]
    for offset, char in enumerate(text):
        if not is_ignorable(char):
            for part in "".join(looks.get(part, part) for part in folded(char)) if looks else folded(char):
                if ucd.combining(part):
                    clusters[-1][1].append((part, offset))
                else:
                    clusters.append(((part, offset), []))

    # Keep letters and numbers, and the marks of kept characters, in canonical order.
    kept: list[tuple[str, int, int]] = []  # character, offset, number of its word
    word, attached, after_unspaced = 0, False, False
    for (char, offset), marks in clusters:
        category = ucd.category(char)
        if category[0] in "LN":
            unspaced = bool(is_unspaced(char))
            word += unspaced or after_unspaced
            after_unspaced = unspaced
            attached = not (consonants and char in "aeiou")
        elif category[0] != "M":
            word += 1
            attached = False
        if attached:
            kept.append((char, offset, word))
        marks = [(mark, offset) for mark, offset in marks if attached or mark == COMBINING_IOTA]
        in_order = sorted(marks, key=lambda mark: ucd.combining(mark[0]))
        for mark, offset in in_order:
            if mark == COMBINING_IOTA:  # case folding turns it into a letter
                mark = looks["ι"] if looks else "ι"
                word += after_unspaced
                attached, after_unspaced = True, False
            kept.append((mark, offset if marks == in_order else marks[0][1], word))

    # Compose each character with the last one that has no combining class, unless another mark blocks it. If a
    # character composes with one of the word before, the two words become one.
    composed: list[tuple[str, int, int]] = []
    base = 0
    word_of: dict[int, int] = {}
    for char, offset, word in kept:
        word = word_of.get(word, word)
        if composed:
            pair = ucd.normalize("NFC", composed[base][0] + char)
            blocked = base < len(composed) - 1 and ucd.combining(composed[-1][0]) >= ucd.combining(char)
            if len(pair) == 1 and not blocked:
                composed[base] = (pair, *composed[base][1:])
                word_of[word] = composed[base][2]
                continue
        if not ucd.combining(char):
            base = len(composed)
        composed.append((char, offset, word))

    words = [i for i, (_, _, word) in enumerate(composed) if i == 0 or composed[i - 1][2] != word]
    return "".join(char for char, _, _ in composed), words, [offset for _, offset, _ in composed]


@cache
def folded(char: str) -> str:
    """Apply NFKD and full case folding until nothing changes, but leave a combining iota a mark for now."""
    import unicodedata2 as ucd  # noqa: PLC0415
    from regex import FULLCASE, IGNORECASE, _regex  # noqa: PLC0415

    def casefold(part: str) -> str:
        if part == "I":
            return "i"  # regex leaves this one to the locale
        return part if part == COMBINING_IOTA else str(_regex.fold_case(int(FULLCASE | IGNORECASE), part))

    while True:
        decomposed = ucd.normalize("NFKD", char)
        char = "".join(map(casefold, decomposed))
        if char == decomposed:
            return char


# --- shingles.pyx -----------------------------------------------------------------------------------------------------


def shingles(words: list[str], width: int = 10, key: int = 0) -> list[int]:
    hashes = [mix(polynomial([char_value(char, key) for char in word], radix(key))) for word in words]
    width = min(width, len(words))
    return [mix(polynomial(hashes[i : i + width], radix(key))) for i in range(len(words) - width + 1)] if words else []


# --- sketches.pyx -----------------------------------------------------------------------------------------------------


def distinct(shingles: Iterable[int]) -> list[int]:
    return sorted(set(shingles))


def mod_sketch(shingles: Iterable[int], modulus: int) -> list[int]:
    return [shingle for shingle in distinct(shingles) if shingle % modulus == 0]


def min_sketch(shingles: Iterable[int], size: int) -> list[int]:
    return distinct(shingles)[:size]


def sketch_scale(count: int) -> int:
    i = 0
    while 100 * 2 ** (i + 1) <= count:
        i += 1
    return i


# --- minhash.pyx ------------------------------------------------------------------------------------------------------

ROUNDS = 8
EMPTY_BIN = WORD
STEP = 0x9E3779B97F4A7C15


def throw(shingles: Iterable[int], multiplier: int, bins: int) -> list[int]:
    values = [EMPTY_BIN] * bins
    for shingle in shingles:
        value = shingle * multiplier & WORD
        bin_ = (value >> 32) * bins >> 32
        values[bin_] = min(values[bin_], value)
    return values


def power_of_two(x: int) -> int:
    """Return the largest power of two that is at most `x`."""
    return 1 << (x.bit_length() - 1)


def minhash(shingles: list[int], bins: int = 1024) -> list[int]:
    if not shingles:
        return []
    values = throw(shingles, 1, bins)
    round_ = 0
    while EMPTY_BIN in values:
        round_ += 1
        wide = bins
        if round_ >= ROUNDS:
            wide = power_of_two(max(bins // power_of_two(1 + round_ // ROUNDS), 1))
        thrown = throw(shingles, mix(round_ * STEP & WORD) | 1, wide)
        values = [thrown[i % wide] if value == EMPTY_BIN else value for i, value in enumerate(values)]
    return values


def pack(minhash: Iterable[int], bits: int = 4) -> bytes:
    kept = [mix((value + i * STEP) & WORD) % (1 << bits) for i, value in enumerate(minhash)]
    return sum(value << i * bits for i, value in enumerate(kept)).to_bytes(len(kept) * bits // 8, "little")


def bands(minhash: list[int], count: int, rows: int) -> list[int]:
    result = []
    for band in range(count if minhash else 0):
        total = (band + 1) * STEP & WORD
        for value in minhash[band * rows : (band + 1) * rows]:
            total = mix(total ^ value)
        result.append(total)
    return result


# --- estimates.pyx ----------------------------------------------------------------------------------------------------


def estimate(x: int, n: int, unsampled: float) -> tuple[float, float]:
    """Return the share x / n and its standard error; `unsampled` is the share of shingles that was not sampled."""
    if n == 0:
        return 0.0, 1.0
    p = (x + 1) / (n + 2)
    return x / n, (p * (1 - p) / (n + 3) * unsampled) ** 0.5


def mod_resemblance(a: Iterable[int], b: Iterable[int], modulus: int) -> tuple[float, float]:
    sample_a, sample_b = set(mod_sketch(a, modulus)), set(mod_sketch(b, modulus))
    return estimate(len(sample_a & sample_b), len(sample_a | sample_b), 1 - 1 / modulus)


def mod_containment(a: Iterable[int], b: Iterable[int], modulus: int) -> tuple[float, float]:
    sample_a, sample_b = set(mod_sketch(a, modulus)), set(mod_sketch(b, modulus))
    return estimate(len(sample_a & sample_b), len(sample_a), 1 - 1 / modulus)


def mod_share(shared: int, size: int, modulus: int) -> tuple[float, float]:
    return estimate(shared, size, 1 - 1 / modulus)


def min_resemblance(a: list[int], b: list[int], size: int) -> tuple[float, float]:
    if len(a) < size and len(b) < size:
        return estimate(len({*a} & {*b}), len({*a, *b}), 0)
    sample = min_sketch([*a, *b], size)
    return estimate(len({*sample} & {*a} & {*b}), len(sample), 1 - sample[-1] / 2**64)


def minhash_resemblance(a: bytes, b: bytes, bits: int = 4) -> tuple[float, float]:
    bins = len(a) * 8 // bits
    if bins == 0:
        return 0.0, 1.0
    differing = int.from_bytes(a, "little") ^ int.from_bytes(b, "little")
    equal = sum((differing >> i * bits) % 2**bits == 0 for i in range(bins))
    value, error = estimate(equal, bins, 1)
    chance = 2**-bits
    return (value - chance) / (1 - chance), error / (1 - chance)


# --- packed_positions.pyx and packed_postings.pyx ---------------------------------------------------------------------


def varint(number: int) -> bytes:
    """Return seven bits per byte, lowest first; all bytes but the last have the top bit."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def pack_positions(positions: Sequence[int]) -> bytes:
    return b"".join(varint((after - before) % 2**32) for before, after in pairwise((0, *positions)))


def pack_postings(postings: Sequence[Posting], block_bytes: int, slot_bits: int) -> list[tuple[int, bytes]]:
    """Return the blocks of postings, each as its first token and its bytes."""
    blocks: list[list[Posting]] = []
    for _, group in groupby(postings, lambda posting: posting[0] >> slot_bits):
        slot = list(group)
        if blocks and len(packed_block([*blocks[-1], *slot], slot_bits)) <= block_bytes:
            blocks[-1] += slot
        else:
            blocks.append(slot)
    return [(block[0][0], packed_block(block, slot_bits)) for block in blocks]


def packed_block(postings: Sequence[Posting], slot_bits: int) -> bytes:
    packed = b""
    before = postings[0][0] >> slot_bits << slot_bits
    for token, group in groupby(postings, lambda posting: posting[0]):
        first, *others = pages = [page for _, page in group]
        distance = number_bytes(token - before)
        control = len(distance) - 1 | len(number_bytes(first)) - 1 << 3 | min(len(others), 7) << 5
        count = varint(len(others)) if len(others) >= 7 else b""
        steps = b"".join(varint(after - page) for page, after in pairwise(pages))
        packed += bytes([control]) + distance + number_bytes(first) + count + steps
        before = token
    return packed


def number_bytes(number: int) -> bytes:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "little")


# --- token_pairs.pyx --------------------------------------------------------------------------------------------------


def token_pairs(pages: Sequence[int], max_partners: int) -> list[Pair]:
    """Pair each page that has a token with those before it: all, or the first and the last of them."""
    pairs = []
    for i, page in enumerate(pages):
        before = pages[:i]
        if i > max_partners:
            before = [*before[: max_partners // 2], *before[i - (max_partners - max_partners // 2) :]]
        pairs += [(earlier, page) for earlier in before]
    return pairs


def skipped_pairs(count: int, max_partners: int) -> int:
    """Return how many pairs token_pairs() leaves out for a token on `count` pages."""
    return sum(max(before - max_partners, 0) for before in range(count))


# --- pair_verdicts.pyx ------------------------------------------------------------------------------------------------


def pair_verdict(
    minhashes: tuple[bytes, bytes], counts: Pair, threshold: float, bits: int, clear: float
) -> tuple[float, float, str]:
    """Return the estimated resemblance of two pages, its standard error, and the verdict."""
    value, error = minhash_resemblance(*minhashes, bits)
    highest = min(counts) / max(*counts, 1)
    reach = clear * error * (2 if min(counts) < 20 else 1)
    verdict = "uncertain"
    if highest < threshold or value + reach < threshold:
        verdict = "different"
    elif value - reach >= threshold:
        verdict = "alike"
    return min(max(value, 0.0), highest), error, verdict


# --- pair_representatives.pyx -----------------------------------------------------------------------------------------


def pair_representatives(n: int, pairs: Iterable[Pair]) -> list[int]:
    """Return for each page the first representative that it resembles, or the page itself if it is a representative."""
    alike = set(pairs)
    joined: list[int] = []
    for page in range(n):
        resembled = (each for each in range(page) if joined[each] == each and (each, page) in alike)
        joined.append(next(resembled, page))
    return joined


# --- repeated_shingles.pyx --------------------------------------------------------------------------------------------


def split_shingles(documents: Sequence[Sequence[int]], parts: int) -> tuple[list[int], list[int]]:
    """Return the block of some documents, and the number of shingles in each of its parts."""
    shingles = [shingle for document in documents for shingle in dict.fromkeys(document)]
    numbers = Counter(part_of(shingle, parts) for shingle in shingles)
    return sorted(shingles, key=lambda shingle: part_of(shingle, parts)), [numbers[part] for part in range(parts)]


def part_of(shingle: int, parts: int) -> int:
    return (shingle >> 32) * parts >> 32


def count_documents(shingles: Sequence[int]) -> list[int]:
    counts = Counter(shingles)
    return [2 * counts[shingle] + (shingle not in shingles[:i]) for i, shingle in enumerate(shingles)]


def document_marks(documents: Sequence[Sequence[int]], width: int) -> list[list[int]]:
    """Return what take_marks() returns, document by document."""
    counts = Counter(shingle for document in documents for shingle in set(document))
    seen: set[int] = set()
    marks = []
    for document in documents:
        first = [shingle not in seen and i < document.index(shingle) + width for i, shingle in enumerate(document)]
        marks.append([2 * counts[shingle] + is_first for shingle, is_first in zip(document, first, strict=True)])
        seen |= set(document)
    return marks


def repeated_runs(marks: Sequence[int], width: int, documents: int, every: bool) -> list[tuple[int, int, int]]:
    repeated = [i for i, mark in enumerate(marks) if mark // 2 >= documents and (every or mark % 2 == 0)]
    words = sorted({i + j for i in repeated for j in range(width)})
    runs = []
    for _, group in groupby(enumerate(words), lambda numbered: numbered[1] - numbered[0]):
        run = [word for _, word in group]
        runs.append((run[0], run[-1] + 1, min(marks[i] // 2 for i in repeated if run[0] <= i <= run[-1])))
    return runs


# --- representatives.pyx ----------------------------------------------------------------------------------------------

Joined = tuple[int, float, float]  # the representative, the resemblance to it, and its standard error


def assign_representatives(
    minhashes: Sequence[bytes],
    counts: Sequence[int],
    threshold: float,
    bits: int,
    clear: float,
    exact: Callable[[int, int], float | None],
) -> list[Joined | None]:
    """Return the representative that each page joins, or None if the page is a representative itself.

    `exact` returns the resemblance of a representative and a page, or None if it is unknown. Parameters as for
    RepresentativeAssignment.
    """

    def likeness(representative: int, page: int) -> tuple[float, float]:
        highest = min(counts[representative], counts[page]) / max(counts[representative], counts[page])
        if highest < threshold:
            return highest, 0.0
        margin = clear * (2 if min(counts[representative], counts[page]) < 20 else 1)
        value, error = minhash_resemblance(minhashes[representative][:128], minhashes[page][:128], bits)
        if value + (margin + 1) * error < threshold:
            return value, error
        value, error = minhash_resemblance(minhashes[representative], minhashes[page], bits)
        if value - margin * error < threshold <= value + margin * error:
            resemblance = exact(representative, page)
            if resemblance is not None:
                return resemblance, 0.0
        return min(value, highest), error

    joined: list[Joined | None] = []
    representatives: list[int] = []
    for page, count in enumerate(counts):
        likenesses = ((representative, *likeness(representative, page)) for representative in representatives if count)
        joined.append(next((each for each in likenesses if each[1] >= threshold), None))
        if count and joined[-1] is None:
            representatives.append(page)
    return joined


# --- symbols.pyx ------------------------------------------------------------------------------------------------------

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212-"
FULL_WIDTH = {char: char - 0xFEE0 for char in range(0xFF01, 0xFF5F)}
BLANK = " \t\xa0\u2000-\u200a\u202f\u3000"
OPERATORS = r"+*/\\<>=^&|~!%¬±×÷\u2190-\u2211\u2213-\u22ff"
RUN = re.compile(rf"[{OPERATORS}{DASHES}]+|[.,:]+|[$€£¥‰°#²³¹\u2070-\u2089]")
OPERAND_BEFORE, OPERAND_AFTER = r"[^\W]|[)\]}\"']", r"[^\W]|[(\[{\"'\-!~.$]"
UNIT = re.compile("[$€£¥‰°]")


def symbols(text: str) -> list[str]:
    """Return the runs of symbols of `text` that are counted."""
    text = text.translate(FULL_WIDTH)
    return [run.group() for run in RUN.finditer(text) if _is_counted(text, run.start(), run.end())]


def _is_counted(text: str, start: int, end: int) -> bool:
    run, before, after = text[start:end], text[:start], text[end:]
    if run in "²³¹" or "\u2070" <= run[0] <= "\u2089":
        return True
    if run == "#":
        return bool(re.search(r"[^\W0-9]\Z", before))
    if run[0] in ".,:":
        return len(run) == 1 and bool(re.search(r"[0-9]\Z", before) and re.match(r"[0-9]", after))
    if UNIT.fullmatch(run) or run == "%":
        if re.search(rf"[0-9][{BLANK}]?\Z", before):
            return True
        if run != "%":
            return bool(re.match(rf"[{BLANK}\r\n]?[0-9]", after))
    if run == "++" and re.search(r"\w\Z", before):
        return True
    left, right = (
        re.search(rf"({OPERAND_BEFORE})([{BLANK}]*)\Z", before),
        re.match(rf"([{BLANK}\r\n]*)({OPERAND_AFTER})", after),
    )
    if left and right and bool(left[2]) == bool(right[1]):
        return len(run) > 1 or run not in DASHES or left[1] in "0123456789" or right[2] in "0123456789"
    if len(run) > 1 or re.search(r"[\w)\]}\"'.,:;\-]\Z", before):
        return False
    return bool(re.match(r"[0-9]" if run in DASHES else r"\w|\(", after)) and run in DASHES + "~!¬"


# --- word_runs.pyx ----------------------------------------------------------------------------------------------------


def word_runs(texts: list[list[str]], words: list[str], width: int, shortest: int) -> list[tuple[int, int, int, int]]:
    """Return the runs that `words` shares with each of `texts`, as (start, end, text, other_start)."""
    runs = []
    for number, text in enumerate(texts):
        if len(text) >= width:
            shared = shared_runs(words, text, width)
            runs += [(start, end, number, other_start) for start, end, other_start, _ in shared]
        elif len(text) >= shortest:
            starts = [i for i in range(len(words)) if words[i : i + len(text)] == text]
            runs += [(start, start + len(text), number, 0) for start in starts]
    return sorted(runs)
