"""The options of attaching winnow to an index of your own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from opensearch_winnow.foundation.option_kinds import FLAG, decimal, number, text
from opensearch_winnow.foundation.options import option
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.stores.store import StoreError

MAX_PER_SECOND = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachOptions(AttachedFields):
    """The options of attaching an index. Without `text`, an attached index is brought up to date."""

    error = StoreError

    slices: int = option(2, number(1, 64), "Slices of the index to work on at the same time.", advanced=True)
    per_second: float | None = option(
        None,
        decimal(0, MAX_PER_SECOND, above_least=True),
        "Write at most N documents a second, to leave the cluster time for others.",
        advanced=True,
    )
    template: bool = option(
        False,
        FLAG,
        "Add winnow's part to the template of an alias or data stream, so that new indices are attached as well.",
        advanced=True,
    )
    pattern: str | None = option(
        None,
        text("NAMES"),
        "Names of new indices, such as 'logs-*', for the template; needed if no template fits them.",
        advanced=True,
    )
    scheme: Scheme | None = None
    key: str | None = field(default=None, repr=False)  # by default, it is read from the file WINNOW_KEY_FILE
    progress: Progress | None = None  # called with the phase, the amount done and the total

    def __post_init__(self) -> None:
        super(AttachOptions, self).__post_init__()
        if not self.text and self.part(AttachedFields) != AttachedFields():
            raise StoreError("title, url, time, html and below need text: name the field that holds it")
        if self.pattern is not None and not self.template:
            raise StoreError("pattern needs template: it names the new indices that a template attaches")

    @property
    def fields(self) -> AttachedFields | None:
        """The fields of an index that is not attached yet; None for an attached index."""
        return self.part(AttachedFields) if self.text else None

    def of_attached(self) -> AttachOptions:
        """Return the options to update the attached index; if it was detached meanwhile, it is not attached again."""
        return replace(self, **AttachedFields().keywords(), scheme=None)
