"""The fields of documents that programs of any language write to an index of their own."""

from __future__ import annotations

from opensearch_winnow.foundation.answers import Answer, answer, key


@answer
class WinnowFields(Answer):
    """The fields, to be put below the object field `winnow` of the document. Hashes are strings."""

    stamp: str = key("The id of the scheme.")
    text_digest: str = key("The digest of the words in their order; empty without a text.")
    shingle_digest: str = key("The digest of the set of shingles; empty without a text.")
    fingerprints: str = key("The fingerprints: hashes of chosen k-grams.")
    fingerprint_count: int = key("The number of fingerprints.")
    positions: str = key("The positions of the fingerprints in the canonical text, packed.")
    shingle_count: int = key("The number of shingles.")
    sketch: str = key("The shingles that are 0 modulo m.")
    sketch_count: int = key("The number of shingles in the sketch.")
    minhash: str = key("The MinHash signature, packed.")
    bands: str = key("The hashes of the bands of the signature.")
    url: str | None = key("The address, or the id.", optional=True, default=None)
    url_length: int | None = key("The length of the address.", optional=True, default=None)
    site: str | None = key("The host of the address.", optional=True, default=None)
    cluster: str | None = key(
        "The id, which is the cluster until documents are clustered.", optional=True, default=None
    )


@answer
class MadeFields(Answer):
    """The fields of a document, or the reason why it has none."""

    fields: WinnowFields | None = key("The fields.", optional=True, default=None)
    error: str | None = key("The reason why there are no fields.", optional=True, default=None)


@answer
class FieldsDocument(Answer):
    """The fields of a document, or of several in their order."""

    scheme: str = key("The id of the scheme of all hashes.")
    fields: WinnowFields | None = key("The fields of one document.", optional=True, default=None)
    documents: list[MadeFields] | None = key("The fields of each of several documents.", optional=True, default=None)
