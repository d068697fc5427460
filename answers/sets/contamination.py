"""Sentences about contamination: evaluation texts found in training sets, and rows that were not checked."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.operations.sets.contamination import Contamination
from opensearch_winnow.operations.sets.evaluation_sets import EvaluationSet


def found_words(result: Contamination) -> str:
    """Say how many training rows are contaminated, and which were not checked and may not be clean."""
    sets, failed = result.evaluation_sets, result.failed
    unchecked, partly = (sum(each.unchecked for each in sets), sum(each.partly_checked for each in sets))
    evaluated = sum(each.rows for each in sets)
    share = f"a share of {result.min_containment:g} or more of an evaluation text"
    if result.contaminated:
        rows = f"{result.contaminated:,} of {count_of(result.rows, 'training row')}"
        passages = share if result.min_containment else "passages of evaluation sets"
        said = f"{rows} {_hold(result.contaminated)} {passages}"
    elif result.below_containment:
        rows = f"{result.below_containment:,} of {result.rows:,} {_hold(result.below_containment)}"
        said = f"No training row holds {share}, but {rows} smaller passages"
    elif failed == result.rows:
        return "Nothing was checked: no training row could be read"
    elif unchecked == evaluated:
        return "Nothing was checked: no evaluation row has a text that is long enough"
    else:
        words = count_of(result.words, "word")
        said = f"No passage of {words} of the evaluation sets in {count_of(result.rows - failed, 'training row')}"
    return said + _not_checked(
        count_of(failed, "training row") if failed else "",
        f"{unchecked:,} of {count_of(evaluated, 'evaluation row')}" if unchecked else "",
        f"parts of {count_of(partly, 'evaluation row')}" if partly else "",
    )


def rows_words(result: Contamination) -> Iterator[str]:
    """Say how many other rows hold smaller passages, and how many rows the cleaned set has."""
    if result.contaminated and result.below_containment:
        yield f"{result.below_containment:,} more {_hold(result.below_containment)} smaller passages"
    if result.kept is not None:
        cut = f"; passages were cut out of {result.cut:,}" if result.cut else ""
        yield f"{count_of(result.kept, 'row')} written{cut}"


def set_words(found: EvaluationSet) -> Iterator[str]:
    """Say how much of an evaluation set was found."""
    share = compact_percent(found.found / found.rows) if found.rows else "0 %"
    unchecked = _not_checked(
        count_of(found.unchecked, "row") if found.unchecked else "",
        f"parts of {count_of(found.partly_checked, 'row')}" if found.partly_checked else "",
    )
    rows = f"{found.found:,} of {count_of(found.rows, 'row')} ({share})"
    yield f"{rows} found, in {count_of(found.training_rows, 'training row')}{unchecked}"
    if len(found.fields) > 1 and found.found:
        fields = ", ".join(f"{one_line(field.name)} {field.found:,}" for field in found.fields)
        yield f"rows found by field: {fields}"


def left_out_words(result: Contamination) -> Iterator[str]:
    """Say which rows were not checked, and may not be clean."""
    for reason, count in sorted(result.failures.items()):
        yield f"{count_of(count, 'training row')} could not be checked: {reason}"
    fewer = f"with fewer than {count_of(result.short, 'word')}"
    for each in result.evaluation_sets:
        for field in each.fields:
            where = f" in {one_line(field.name)}" if field.name else ""
            if field.too_short:
                yield f"{each.name}: {count_of(field.too_short, 'row')} with a text{where} too short to check, {fewer}"
            if field.lacking:
                yield f"{each.name}: {count_of(field.lacking, 'row')} without a text{where}"
        if each.failed:
            yield f"{each.name}: {count_of(each.failed, 'row')} could not be read"
        yield from (f"  {one_line(failed.where)}: {failed.reason}" for failed in each.failures)
        if each.failed > len(each.failures):
            yield f"  and {each.failed - len(each.failures):,} more"


def _hold(rows: int) -> str:
    return "holds" if rows == 1 else "hold"


def _not_checked(*parts: str) -> str:
    """Return the unchecked parts as the end of a sentence. Empty parts are left out."""
    named = ", ".join(filter(None, parts))
    return f"; not checked: {named}" if named else ""
