"""The options of adding winnow's fields to documents on their way to an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.option_kinds import FLAG, repeated, text
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.ingest.own_index.date_format import USUAL_FORMAT, DateFormat
from opensearch_winnow.mappings.attached_fields import PATH, AttachedFields

FORMAT = text("FORMAT")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsOptions(Options):
    """The form of the documents: the fields that are read, and the format of a time."""

    text: str | Sequence[str] = option(
        ("text",),
        repeated(PATH),
        "Field with the text, such as content.body. Several are joined; may be repeated.",
        unset="text",
    )
    html: bool = option_of(AttachedFields, "html")
    url: str | None = option(None, PATH, "Field with the address of a page.", unset="the _id, if it is known")
    time: str | None = option_of(AttachedFields, "time")
    time_format: str = option(
        USUAL_FORMAT, FORMAT, "The format of the time, as the mapping of the index has it.", advanced=True
    )
    id: str | None = option(
        None,
        PATH,
        "Field with the _id of a document, which is its cluster until documents are clustered. A _bulk body tells it.",
    )
    below: str = option_of(AttachedFields, "below")
    bulk: bool = option(False, FLAG, "The input is a _bulk body: a line with an action before each document.")

    def __post_init__(self) -> None:
        super(FieldsOptions, self).__post_init__()
        if self.bulk and self.id:
            raise QuestionError("id is for JSON lines: a _bulk body has the _id in its actions")
        if unknown := self.date_format.unknown:
            raise QuestionError(f"time_format: winnow does not know {' or '.join(unknown)}")

    @property
    def date_format(self) -> DateFormat:
        """The format of the time."""
        return DateFormat(self.time_format)

    @property
    def fields(self) -> AttachedFields:
        """The fields of an index of these documents."""
        return AttachedFields(text=self.text, url=self.url, time=self.time, html=self.html, below=self.below)
