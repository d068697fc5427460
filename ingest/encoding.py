"""Finds the encoding of a page before it is parsed, and converts the page to UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

import chardet
import webencodings

UTF8 = "utf-8"
FALLBACK = "cp1252"  # the default of browsers

_BOMS = ((codecs.BOM_UTF8, UTF8), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_BLOCK = 16_384  # bytes that are decoded at a time to check for UTF-8: the output stays in the cache, a third faster
_HEAD = 16_384  # bytes in which <meta> is looked for: browsers look at 1,024, but archives add a head of their own
_SAMPLE = 8_192  # bytes for the detector, from around non-ASCII ones; more did not help
_MIN_NON_ASCII = 3  # bytes that a detector needs: it takes a lone copyright sign for a letter

# Codecs by name in the Encoding Standard, where Python's codec of that name decodes less than browsers do
_CODECS = {
    "gbk": "gb18030",
    "euc-jp": "euc_jis_2004",
    "iso-2022-jp": "iso2022_jp_ext",
    "x-user-defined": FALLBACK,
}
# Refused by the standard because scripts can hide in them; we run no scripts
_REFUSED = {"hz-gb-2312": "hz", "iso-2022-kr": "iso2022_kr", "csiso2022kr": "iso2022_kr"}
_SEVEN_BIT = {"hz", "iso2022_kr", "iso2022_jp_ext"}

# Encodings that are detected in pages without a label: chardet's name, Python's codec. IBM 866 and the Macintosh
# encodings are left out: they would be detected more often wrongly than rightly.
_LATIN = {"cp1250": "cp1250", "cp1252": "cp1252", "cp1254": "cp1254", "cp1257": "cp1257", "cp1258": "cp1258"}
_LATIN |= {"iso8859-2": "iso8859-2"}
_ANY = _LATIN | {"cp1251": "cp1251", "koi8-r": "koi8-r", "koi8-u": "koi8-u", "iso8859-5": "iso8859-5"}
_ANY |= {"cp1253": "cp1253", "iso8859-7": "iso8859-7", "cp1255": "cp1255", "iso8859-8": "iso8859-8", "cp1256": "cp1256"}
_ANY |= {"cp874": "cp874", "tis-620": "cp874", "gb18030": "gb18030", "big5hkscs": "big5hkscs", "cp949": "cp949"}
_ANY |= {"euc_kr": "cp949", "euc_jis_2004": "euc_jis_2004", "cp932": "cp932", "shift_jis_2004": "cp932"}

_HIGH = re.compile(rb"[\x80-\xff]")
_RUN = re.compile(rb"[\x80-\x9f\xa1-\xff]{3,}")  # 0xA0 is a space in most encodings
_LOST = re.compile("[\x80-\x9f\ufffd]")  # characters that a wrong encoding makes of bytes; pages do not use them
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")  # from programs that encode each half of a UTF-16 pair
_JAPANESE = re.compile(rb"\x1b(?:\$[@B]|\([IJ])")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s;,\"']+)", re.IGNORECASE)
_XML = re.compile(rb"\A\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"'>]+)")
# As in browsers, an element that is not closed extends to the end, so that each byte is looked at once.
_TAG = re.compile(
    rb"<!--(?:-?>|(?:[^-]++|-(?!->))*+)|<[!/?][^>]*+|<([a-zA-Z][^\s/>]*+)((?:[^>\"']++|\"[^\"]*+\"?|'[^']*+'?)*+)"
)
_ATTRIBUTE = re.compile(rb"([^\s=/>\"']++)(?:\s*+=\s*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^\s>]++)))?+")
_TAG_EDGE = re.compile(rb"[<>]")
_EDGE = re.compile(rb"[\x00-\x2f<>]")  # bytes that are never the second byte of a character


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a page, and how it was found.

    `how` is "ascii" or "utf-8" if every byte is valid UTF-8. Otherwise it is "bom", "nulls" (of UTF-16), "escapes" (of
    ISO-2022), "http", "meta", "xml", "mostly utf-8" (some bytes will be lost), "detected" or "fallback".
    """

    name: str  # Python's codec
    how: str


def encoding_of(body: bytes, content_type: str | None = None, *, markup: bool = True) -> Encoding:
    """Return the encoding of a page. `content_type` is the server's header; without `markup`, `<meta>` is not read.

    Valid UTF-8 is UTF-8 whatever a label says, as no other text looks like it. Otherwise a label counts, the server's
    before the page's own, unless the bytes contradict it. Otherwise a detector decides.
    """
    for bom, name in _BOMS:
        if body.startswith(bom) and (name != UTF8 or _is_utf8(body)):
            return Encoding(name, "bom")
    if b"\0" in body and (utf16 := _utf16(body)):
        return Encoding(utf16, "nulls")
    if body.isascii():
        return _seven_bit(body, content_type, markup) or Encoding(UTF8, "ascii")
    if _is_utf8(body):
        return Encoding(UTF8, "utf-8")
    return _legacy(body.removeprefix(codecs.BOM_UTF8), content_type, markup)


def to_text(body: bytes, encoding: Encoding) -> str:
    """Return the page as text without its BOM, and with U+FFFD for bytes that are not in its encoding."""
    body = body.removeprefix(codecs.BOM_UTF8)
    return body.decode(encoding.name, "replace").removeprefix("\ufeff")


def to_utf8(body: bytes, encoding: Encoding) -> bytes:
    """Return the page in valid UTF-8 without a BOM: the same object if `encoding_of` found it to be UTF-8."""
    if encoding.how in ("ascii", "utf-8"):
        return body
    return to_text(body, encoding).encode()


def _is_utf8(body: bytes) -> bool:
    view = memoryview(body)
    start, size = 0, len(body)
    try:
        while start < size:
            start += codecs.utf_8_decode(view[start : start + _BLOCK], "strict", start + _BLOCK >= size)[1]
    except UnicodeDecodeError:
        return False
    return True


def _utf16(body: bytes) -> str | None:
    """Recognise UTF-16 without a BOM: in markup, every other byte is 0."""
    head = body[:_HEAD]
    first, second = head[::2].count(0), head[1::2].count(0)
    if max(first, second) * 8 < len(head) or min(first, second) * 8 > max(first, second):
        return None
    return "utf-16-le" if second > first else "utf-16-be"


def _seven_bit(body: bytes, content_type: str | None, markup: bool) -> Encoding | None:
    """Recognise encodings that use ASCII bytes for other characters."""
    if b"\x1b" in body:
        if b"\x1b$)C" in body:
            return Encoding("iso2022_kr", "escapes")
        if _JAPANESE.search(body):
            return Encoding("iso2022_jp_ext", "escapes")
    if b"~{" in body:
        for name, how in _labels(body, content_type, markup):
            if name == "hz":
                return Encoding(name, how)
    return None


def _legacy(body: bytes, content_type: str | None, markup: bool) -> Encoding:
    """Return the encoding of bytes that are not, or not all, UTF-8."""
    labels = list(_labels(body, content_type, markup))
    text = body.decode(UTF8, "replace")
    halves = len(_SURROGATE.findall(body))
    broken = text.count("\ufffd")
    valid = _non_ascii(text) - broken + halves
    broken -= 3 * halves
    label_is_utf8 = any(name == UTF8 for name, _ in labels)
    # In legacy Chinese or Japanese, the ratio of valid to broken is a third of this, by chance.
    if valid >= broken * 4 or (label_is_utf8 and valid > broken):
        return Encoding(UTF8, "mostly utf-8")
    sample = _sample(body)
    for name, how in labels:
        if name.startswith("utf-16") or (name != UTF8 and _fits(sample, name)):
            return Encoding(name, how)
    detected = _detected(sample)
    return Encoding(detected, "detected") if detected else Encoding(FALLBACK, "fallback")


def _fits(sample: bytes, name: str) -> bool:
    """Return whether the sample can be in the encoding that a label names."""
    if name == FALLBACK:  # decodes any bytes, and many servers name it for every page
        return _bytes_in_words(sample) * 2 < len(_HIGH.findall(sample))
    text = sample.decode(name, "replace")
    if name == "cp932" and len(_HALF_WIDTH.findall(text)) * 2 > _non_ascii(text):  # EUC-JP looks like this in cp932
        return False
    return len(_LOST.findall(text)) * 10 <= _non_ascii(text)


def _bytes_in_words(sample: bytes) -> int:
    """Count bytes in runs of non-ASCII bytes: words of other scripts are such runs, accented letters are not."""
    return sum(len(run) for run in _RUN.findall(sample) if len(set(run)) >= 3)


def _non_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _detected(sample: bytes) -> str | None:
    high = len(_HIGH.findall(sample))
    if _bytes_in_words(sample) * 4 >= high:
        names = _ANY
    elif high >= _MIN_NON_ASCII:
        names = _LATIN
    else:
        return None
    found = chardet.detect(sample, compat_names=False, prefer_superset=False, include_encodings=names)["encoding"]
    return names.get(found or "")


def _sample(body: bytes) -> bytes:
    """Return the text around non-ASCII bytes, without markup, and with no character cut in two."""
    pieces: list[bytes] = []
    size = end = 0
    while size < _SAMPLE and (high := _HIGH.search(body, end)):
        at = high.start()
        low = max(end, at - 64)
        start = max(body.rfind(b">", low, at), body.find(b" ", low, at)) + 1 or at
        edge = _TAG_EDGE.search(body, at, at + 256) or _EDGE.search(body, at + 256, at + 4_096)
        end = edge.start() if edge else min(at + 4_096, len(body))
        pieces.append(body[start:end])
        size += end - start
    return b"\n".join(pieces)


def _labels(body: bytes, content_type: str | None, markup: bool) -> Iterator[tuple[str, str]]:
    """Yield the possible codecs that labels name, and where each label was found, the most reliable first."""
    labels = [(label, "http") for label in _CHARSET.findall(content_type or "")]
    if markup:
        head = body[:_HEAD]
        labels += [(label, "meta") for label in _meta(head)]
        labels += [(label.decode("latin-1"), "xml") for label in _XML.findall(head)]
    for label, how in labels:
        name = _codec(label)
        if name and name.startswith("utf-16") and (how != "http" or b"\0" not in body):
            yield UTF8, how  # as browsers do: a page whose <meta> can be read is not UTF-16
        elif name and (name not in _SEVEN_BIT or b"\x1b" in body or b"~{" in body):
            yield name, how


def _meta(head: bytes) -> Iterator[str]:
    for tag in _TAG.finditer(head):
        if (tag[1] or b"").lower() != b"meta":
            continue
        found = (match.groups() for match in _ATTRIBUTE.finditer(tag[2]))
        attributes = {
            name.lower(): (double or single or bare or b"").decode("latin-1") for name, double, single, bare in found
        }
        if b"charset" in attributes:
            yield attributes[b"charset"]
        elif attributes.get(b"http-equiv", "").strip().lower() == "content-type":
            yield from _CHARSET.findall(attributes.get(b"content", ""))


def _codec(label: str) -> str | None:
    label = label.strip().lower()
    if label in _REFUSED:
        return _REFUSED[label]
    encoding = webencodings.lookup(label) if label.isascii() else None
    if encoding is None or encoding.name == "replacement":
        return None
    return _CODECS.get(encoding.name) or codecs.lookup(encoding.codec_info.name).name
