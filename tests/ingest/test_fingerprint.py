from __future__ import annotations

import random
import threading

from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, fingerprint
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes

SMALL = Scheme(noise=5, guarantee=9)
SENTENCE = "A do run run run, a do run run"  # figure 1 of the winnowing paper


def test_the_example_of_the_winnowing_paper() -> None:
    prints = fingerprint(SENTENCE, Scheme(noise=5, guarantee=8))
    assert prints.canonical.chars == "adorunrunrunadorunrun"
    assert len(prints) == len(prints.hashes) == len(prints.positions) == len(prints.spans)
    assert all(position <= 16 for position in prints.positions)


@given(st.text(max_size=120))
def test_a_span_is_the_text_of_its_kgram(text: str) -> None:
    prints = fingerprint(text, SMALL)
    for hash_, (start, end) in zip(prints.hashes, prints.spans, strict=True):
        assert 0 <= start < end <= len(text)
        assert hash_ in kgram_hashes(canonical_text(text[start:end]).chars, SMALL.k)


@given(st.lists(st.sampled_from("abcdefghé"), max_size=200), st.randoms(use_true_random=False))
def test_case_spacing_and_punctuation_do_not_count(letters: list[str], source: random.Random) -> None:
    noisy = "".join(source.choice((letter, letter.upper())) + source.choice(("", "", " ", "…\n")) for letter in letters)
    assert fingerprint(noisy, SMALL).hashes == fingerprint("".join(letters), SMALL).hashes


def test_short_texts() -> None:
    page = "Sixty letters or more are here, though far fewer than the guarantee asks for."
    assert len(fingerprint(page)) == 1
    assert fingerprint(page).hashes == fingerprint(page.upper().replace(" ", "\n")).hashes
    below = fingerprint("too short")
    assert (len(below), below.spans) == (0, [])


def test_fingerprints_of_different_keys_share_nothing() -> None:
    page = "".join(random.Random(1).choices("abcdefgh ", k=5000))
    one, other = (fingerprint(page, Scheme(key=key)).hashes for key in "ab")
    assert not {*one} & {*other}


def test_other_threads_run_while_a_long_text_is_fingerprinted() -> None:
    """The call releases the GIL: another thread continues to count during one call."""
    text = "the quick brown fox jumps over the lazy dog " * 1_500_000
    ticks: list[int] = []
    done = threading.Event()

    def count() -> None:
        while not done.wait(0.0005):
            ticks.append(0)

    counter = threading.Thread(target=count)
    counter.start()
    before = len(ticks)
    fingerprint(text)
    during = len(ticks) - before
    done.set()
    counter.join()
    assert during >= 3
