"""What was compared and found in a set of documents, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.queries.pairs import Pairs


def compared_words(pairs: Pairs) -> str:
    """Say which documents were compared."""
    new = sum(not document.earlier for document in pairs.documents)
    earlier = len(pairs.documents) - new
    documents = count_of(new, "document")
    if pairs.folders:
        documents = f"{count_of(new, 'submission')} (each sub-folder is one)"
    if earlier:
        documents += f" and {count_of(earlier, 'earlier document')}"
    as_what = "programs" if pairs.form == "code" else "texts"
    base = f"; {count_of(pairs.base, 'base file')} left out" if pairs.base else ""
    return f"{documents}, compared as {as_what}: {count_of(pairs.compared, 'pair')}{base}"


def found_words(pairs: Pairs) -> str:
    """Say how many pairs reach the threshold."""
    if pairs.measure == "longest":
        least = max(pairs.threshold, 1)
        reached = f"share a passage of {least:g} {unit(pairs)} or more" if least > 1 else "share a passage"
    elif pairs.threshold:
        reached = f"have a {pairs.measure} of {percent(pairs.threshold)} or more"
    else:
        reached = "have something in common"
    if not pairs.total:
        return f"No two {reached}"
    reached = reached if pairs.total > 1 else reached.replace("have", "has", 1).replace("share", "shares", 1)
    return f"{count_of(pairs.total, 'pair')} {reached}, in {count_of(pairs.groups, 'group')}"


def unread_words(pairs: Pairs, names: int = 3) -> Iterator[str]:
    """Yield a line for each reason why files or rows were not compared, with some of their names."""
    for reason, count in Counter(each.reason for each in pairs.unread).most_common():
        some = [each.name for each in pairs.unread if each.reason == reason][:names]
        more = ", …" if count > len(some) else ""
        yield f"{count:,} not compared: {reason} ({', '.join(some)}{more})"


def unit(pairs: Pairs) -> str:
    """Return what passages are counted in."""
    return "tokens" if pairs.form == "code" else "words"
