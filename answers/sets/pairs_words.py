"""Sentences about a set of documents: which were compared, and the pairs that were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.queries.sets.pairs import NotCompared, Pairs


def compared_words(pairs: Pairs) -> str:
    """Say which documents were compared."""
    documents = _documents(pairs.document_count - pairs.earlier, pairs)
    documents += " (each sub-folder is one)" if pairs.folders else ""
    documents += f" and {count_of(pairs.earlier, 'earlier document')}" if pairs.earlier else ""
    as_what = "programs" if pairs.form == "code" else "texts"
    base = f"; {count_of(pairs.base, 'base file')} left out" if pairs.base else ""
    return f"{documents}, compared as {as_what}: {count_of(pairs.compared, 'pair')}{base}"


def found_words(pairs: Pairs) -> str:
    """Say how many pairs reach the minimum score."""
    if pairs.measure == "longest":
        least = max(pairs.min_score, 1)
        reached = f"share a passage of {least:g} {unit(pairs)} or more" if least > 1 else "share a passage"
    elif pairs.min_score:
        reached = f"have a {pairs.measure} of {percent(pairs.min_score)} or more"
    else:
        reached = "have something in common"
    if not pairs.compared:
        return "There were no two to compare"
    if not pairs.total:
        return f"No two {'of these ' if pairs.not_compared else ''}{reached}"
    reached = reached if pairs.total > 1 else reached.replace("have", "has", 1).replace("share", "shares", 1)
    return f"{count_of(pairs.total, 'pair')} {reached}, in {count_of(pairs.groups, 'group')}"


def not_compared_words(pairs: Pairs) -> Iterator[str]:
    """Name all documents that were not compared, or only in part, with the reasons. To be shown before all else."""
    of_all = f"of {_documents(pairs.submitted, pairs)}"
    if missing := pairs.not_compared:
        names = _named({each.name: each.reason for each in missing})
        yield f"{len(missing):,} {of_all} could not be compared: {names}"
    if partly := pairs.partly_compared:
        names = _named({each.name: _parts(each) for each in partly})
        yield f"{len(partly):,} {of_all} {'was' if len(partly) == 1 else 'were'} compared only in part: {names}"


def _parts(document: NotCompared) -> str:
    """Return the files of a document that were not compared, with reasons; only the reasons if it is anonymised."""
    files = ((each.name.removeprefix(f"{document.name}/"), each.reason) for each in document.unread)
    return ", ".join(dict.fromkeys(f"{name}: {reason}" if name else reason for name, reason in files))


def _named(reasons: Mapping[str, str]) -> str:
    """Return the names, grouped by reason."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(some)} ({reason})" for reason, some in names.items())


def left_out_words(pairs: Pairs, names: int = 3) -> Iterator[str]:
    """Yield a line for each reason why other files or rows were left out, with some of their names."""
    told = {each.name for each in (*pairs.not_compared, *pairs.partly_compared)}
    others = [each for each in pairs.unread if each.document not in told]
    for reason, count in Counter(each.reason for each in others).most_common():
        some = [each.name for each in others if each.reason == reason][:names]
        more = f" and {count - len(some):,} more, which --json names" if count > len(some) else ""
        yield f"{count:,} left out: {reason} ({', '.join(some)}{more})"


def _documents(count: int, pairs: Pairs) -> str:
    return count_of(count, "submission" if pairs.folders else "document")


def unit(pairs: Pairs) -> str:
    """Return the unit in which passages are counted."""
    return "tokens" if pairs.form == "code" else "words"
