"""Explains in one sentence why documents of a request get no fields, with a length that no request can exceed."""

from __future__ import annotations

from collections import Counter

from opensearch_winnow.foundation.some_of import some_of

MAX_NAMES_SHOWN = 3
# Characters of one name, of a reason, and of the whole sentence. Clients choose the names, and many clients refuse
# answers with long headers.
MAX_NAME = 60
MAX_REASON = 170
MAX_SENTENCE = 300
MAX_LINES = 10  # that are logged of one request
CUT = "..."


class MissingFields:
    """The documents of attached indices that get no fields, counted by index, and the reasons."""

    def __init__(self) -> None:
        self._documents: Counter[str] = Counter()
        self._reasons: dict[str, str] = {}  # one for each name; empty reasons are not kept

    @property
    def documents(self) -> int:
        """The number of documents in requests whose documents can be counted."""
        return self._documents.total()

    def add(self, name: str | None, reason: str, documents: int = 1) -> None:
        """Add documents of an index. Without a `reason`, they are only counted."""
        self._documents[name or ""] += documents
        if reason:
            self._reasons.setdefault(name or "", reason)

    def sentence(self) -> str:
        """Return the message for the client, in printable ASCII; empty if there are no reasons."""
        if not self._reasons:
            return ""
        names = list(self._reasons)
        count = sum(self._documents[name] for name in names)
        documents = "documents" if not count else "1 document" if count == 1 else f"{count:,} documents"
        reason, sentence = cut(self._reasons[names[0]], MAX_REASON), ""
        for number in range(MAX_NAMES_SHOWN, 0, -1):  # fewer names, rather than a part of the reason
            shown = some_of([cut(name, MAX_NAME) for name in names], number)
            indices = f"{len(names):,} indices: {shown}" if len(names) > 1 else shown
            of = f" of {indices}" if indices else ""
            sentence = f"no fields for {documents}{of}: {reason}"
            if len(sentence) <= MAX_SENTENCE:
                break
        return cut(sentence, MAX_SENTENCE)

    def log_lines(self) -> list[str]:
        """Return a line for each index, up to MAX_LINES."""
        return [
            cut(f"no fields for documents{f' of {cut(name, MAX_NAME)}' if name else ''}: {reason}", MAX_SENTENCE)
            for name, reason in list(self._reasons.items())[:MAX_LINES]
        ]


def cut(text: str, characters: int) -> str:
    """Return at most `characters` of a text, in printable ASCII; a shortened text ends in `...`."""
    short = text if len(text) <= characters else f"{text[: characters - len(CUT)]}{CUT}"
    return "".join(each if each.isprintable() else " " for each in short.encode("ascii", "replace").decode())
