from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, compare
from opensearch_winnow.cython_core import passages as module
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.queries.compare import Comparer, side
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.types import Passage

SMALL = Scheme(noise=6, guarantee=12, shingle=3)
WORDS = ["rose", "is", "a", "Rose,", "thorn", "the", "of", "crawl", "copy"]


def prose(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices([f"word{i}" for i in range(500)], k=words))


texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


@given(texts, texts)
def test_scores_and_passages_are_those_of_the_texts(a: str, b: str) -> None:
    both = compare(a, b, SMALL)

    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.casefold().replace(",", "").split()
        return {tuple(words[i : i + 3]) for i in range(max(len(words) - 2, min(len(words), 1)))}

    ours, theirs = shingles(a), shingles(b)
    shared = len(ours & theirs)
    assert both.resemblance == shared / max(len(ours | theirs), 1)
    assert both.containment == shared / max(len(ours), 1)
    assert both.contained == shared / max(len(theirs), 1)
    same = compare(a, a.upper(), SMALL)
    assert (same.resemblance, same.containment, same.contained) == ((1, 1, 1) if a else (0, 0, 0))
    for start, end, other_start, other_end in both.passages:
        said = canonical_text(a[start:end]).chars
        assert said == canonical_text(b[other_start:other_end]).chars
        assert len(said) >= SMALL.k
    one, other = side(a, SMALL), side(b, SMALL)
    comparer = Comparer(SMALL)
    assert comparer.scores(one, other) == (both.resemblance, both.containment, both.contained)
    assert comparer.passages(one, other) == (both.passages, [])
    assert comparer.scores(other, one) == (both.resemblance, both.contained, both.containment)


def test_a_question_is_fingerprinted_once_for_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a question of n characters with n candidates takes n² steps."""
    select, selected = fingerprints, []

    def counting(chars: str, *arguments: Any, **options: Any) -> Any:
        selected.append(chars)
        return select(chars, *arguments, **options)

    monkeypatch.setattr(module, "fingerprints", counting)
    question, comparer = side(prose(3_000, 1), Scheme()), Comparer(Scheme())
    for seed in range(20):
        comparer.passages(question, side(prose(100, seed), comparer.scheme))
    assert selected.count(question.chars) == 1
    assert len(selected) == 21


def test_containment_is_not_symmetric_and_edits_can_be_joined_for_display() -> None:
    chapter, rest = prose(200, 1), prose(600, 2)
    both = compare(chapter, f"{rest} {chapter}")
    assert both.containment == 1
    assert 0.2 < both.contained < 0.3
    assert both.resemblance == pytest.approx(both.contained)
    [passage] = both.passages
    assert passage == Passage(0, len(chapter), len(rest) + 1, len(rest) + 1 + len(chapter))
    source = prose(200, 4)
    edited = source.replace(source.split()[100], "changed")
    apart = compare(source, edited)
    joined = compare(source, edited, join_gap=10)
    assert len(apart.passages) == 2
    assert joined.passages == [Passage(0, len(source), 0, len(edited))]
    assert joined.resemblance == apart.resemblance


def test_offsets_are_code_points_of_the_text_as_it_was() -> None:
    quoted = "«Ein Ärgernis», sagte er — und ging; 😀 niemand hielt ihn auf, denn es war spät und sehr, sehr dunkel."
    a, b = f"😀 Vorher! {quoted} Nachher.", f"{prose(30, 3)}…  {quoted.upper()} ENDE"
    both = compare(a, b, Scheme(noise=20, guarantee=40))
    [(start, end, other_start, other_end)] = both.passages
    assert a[start:end] == quoted.strip("«.")
    assert b[other_start:other_end] == quoted.upper().strip("«.")


def test_nothing_in_common_nothing_at_all_and_no_text() -> None:
    assert compare(prose(50, 5), prose(50, 6)).passages == []
    for a, b in (("", ""), ("", "words"), ("?!", "…")):
        both = compare(a, b)
        assert (both.resemblance, both.containment, both.contained, both.passages) == (0, 0, 0, [])
    with pytest.raises(TypeError, match="str"):
        compare("text", b"bytes")  # type: ignore[arg-type]


def test_with_a_smaller_window_shorter_runs_are_found() -> None:
    quoted = "seven remarkable expressions standing together as one"
    ours, theirs = (side(f"{prose(30, seed)} {seed} {quoted} {seed} {prose(30, seed)}", Scheme()) for seed in (1, 2))
    every, _ = Comparer(Scheme(noise=40)).passages(ours, theirs, window=1)
    assert [ours.canonical.text[each.start : each.end] for each in every] == [quoted]


def kgrams(chars: str) -> list[str]:
    return [chars[i : i + SMALL.k] for i in range(len(chars) - SMALL.k + 1)]


def letters(text: str) -> int:
    return len(canonical_text(text).chars)


@given(texts, texts, st.lists(texts, max_size=2), st.sampled_from([None, "a.example"]))
def test_boilerplate_is_cut_out_of_the_runs_and_nothing_else_is_lost(
    a: str, b: str, registered: list[str], site: str | None
) -> None:
    plain = compare(a, b, SMALL)
    boilerplate = [Boilerplate("b", each, site) for each in registered]
    both = compare(a, b, SMALL, boilerplate=boilerplate, sites=(site, site))
    grams = {gram for text in registered for gram in kgrams(canonical_text(text).chars)}
    for part in both.passages + both.boilerplate:
        ours = canonical_text(a[part.start : part.end]).chars
        assert ours == canonical_text(b[part.other_start : part.other_end]).chars
        assert len(ours) >= SMALL.k
        in_boilerplate = [gram in grams for gram in kgrams(ours)]
        assert (in_boilerplate[0] and in_boilerplate[-1]) if part in both.boilerplate else not any(in_boilerplate)
    assert both.passages == sorted(both.passages)
    assert both.boilerplate == sorted(both.boilerplate)
    for run in plain.passages:
        end = run.start
        for part in sorted(both.passages + both.boilerplate):
            ahead = letters(a[run.start : part.start])
            in_run = run.start <= part.start < run.end and run.other_start <= part.other_start < run.other_end
            if in_run and ahead == letters(b[run.other_start : part.other_start]):
                assert end <= part.start
                assert letters(a[end : part.start]) < SMALL.k
                end = part.end
        assert end <= run.end
        assert letters(a[end : run.end]) < SMALL.k


@given(texts, texts, texts)
def test_what_is_boilerplate_elsewhere_changes_nothing(a: str, b: str, template: str) -> None:
    plain = compare(a, b, SMALL)
    elsewhere = [Boilerplate("t", template, "other.example")]
    assert compare(a, b, SMALL, boilerplate=elsewhere) == plain
    assert compare(a, b, SMALL, boilerplate=elsewhere, sites=("a.example", "b.example")) == plain


def test_a_run_that_goes_on_behind_boilerplate_is_split() -> None:
    licence, shared = prose(80, 1), prose(60, 2)
    text = f"{shared} {licence} {shared[::-1]}"
    both = compare(text, text, boilerplate=[Boilerplate("licence", licence)])
    assert [text[each.start : each.end] for each in both.passages] == [shared, shared[::-1]]
    assert [text[each.start : each.end] for each in both.boilerplate] == [licence]
    across = compare(text, text, boilerplate=[Boilerplate("licence", licence)], join_gap=10_000)
    assert across == both


@given(texts, texts, texts, texts)
def test_a_template_never_lowers_a_score_between_sites(a: str, b: str, ours: str, theirs: str) -> None:
    exclusions = Exclusions([Boilerplate("a", ours, "a.example"), Boilerplate("b", theirs, "b.example")], SMALL)
    one, other = side(a, SMALL, site="a.example"), side(b, SMALL, site="b.example")
    plain, adjusted = Comparer(SMALL), Comparer(SMALL, exclusions)
    scores = plain.scores(one, other), adjusted.scores(one, other)
    assert all(after >= before for before, after in zip(*scores, strict=True))
    assert adjusted.passages(one, other) == plain.passages(one, other)
