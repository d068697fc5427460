"""Decodes the body of an HTTP response: gzip, deflate, Brotli, Zstandard, chunked."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterable, Sequence

import zstandard

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import extra

MAX_CODINGS = 5  # curl's limit; an honest server needs two at most
GZIP = b"\x1f\x8b\x08"  # the third byte is the only method there is

_PIECE = 16_384  # compressed bytes at a time: those after the end of a gzip member are copied
_ZSTD_PIECE = 128  # compressed bytes at a time: zstandard does not bound its output, and 4 bytes become 128 kB at most
_STEP = 1 << 18  # decompressed bytes at a time; brotli may give twice as many
_ZSTD_WINDOW = 8 << 20  # bytes: the most that RFC 9659 allows, and far less than a body can ask for
_HEAD = 1_024  # bytes that are checked for text: in compressed data, one in ten is a control character
_MIN_SURE_TEXT = 256  # bytes without a control character are text for sure: 0.9 ** 256 is nothing

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # not used in text; ESC is, in Japanese encodings
_LINE_END = re.compile(rb"\r?(?:\n|\Z)")
_SIZE_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\n]{0,4096})?\r?(?:\n|\Z)")
_AFTER_LAST = re.compile(rb"\r?(?:\n|\Z)|[\w!#$%&'*+.^`|~-]+:")  # an empty line, nothing, or a trailer field


class BodyError(WinnowError):
    """A body that cannot be decoded. The message is a reason, by which pages are counted."""


class _FullError(Exception):
    """The decoded body is larger than the limit."""


class _CutError(Exception):
    """The body ends before its coding does."""


class _BrokenError(Exception):
    """The bytes are not, or not all, in this coding."""


class _Output(io.BytesIO):
    """A buffer with a limit."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.room = self.limit = limit

    def add(self, piece: bytes | memoryview) -> None:
        self.room -= len(piece)
        if self.room < 0:
            raise _FullError
        self.write(piece)


_Decompress = Callable[[bytes, _Output], None]


def decoded(body: bytes, codings: Sequence[str], limit: int) -> bytes:
    """Undo `codings`, which are given in the order they were applied, and return the body.

    Labels are often wrong. Plain text with a label is left as it is; gzip without a label is decompressed, as no page
    starts like it; both kinds of deflate are accepted; words that name no coding are ignored. Bytes after the end of
    gzip, zlib, zstd and the last chunk are dropped.

    A body that is cut off or damaged within a coding raises BodyError, even if a browser would show the readable part:
    as a page, that part would make two equal captures differ. Only the last chunk of a chunked body may be missing, if
    the rest ends with </html> or has a coding of its own.

    Neither the body nor an intermediate result may be larger than `limit`. Decompressing takes about as much memory
    again, and at least 20 MB.
    """
    names = [name for coding in codings for name in _names(coding)]
    left = MAX_CODINGS
    if len(names) > left:
        raise BodyError(f"more than {MAX_CODINGS} codings")
    try:
        while names:
            name = names.pop()
            body = _chunks(body, limit, bool(names)) if name == "chunked" else _decompressed(body, name, limit)
            left -= 1
        while body.startswith(GZIP):
            if not left:
                raise BodyError(f"more than {MAX_CODINGS} codings")
            body, left = _decompressed(body, "gzip", limit), left - 1
        if len(body) > limit:
            raise _FullError
    except _FullError:
        raise BodyError(f"larger than {_megabytes(limit)} MB once decoded") from None
    return body


def _names(coding: str) -> Iterable[str]:
    for word in coding.lower().split(","):
        name = word.partition(";")[0].strip(" \t\r\n\"'")
        name = name.removeprefix("x-")
        if name == "chunked" or name in _CODINGS:
            yield name


def _decompressed(body: bytes, name: str, limit: int) -> bytes:
    """Decompress a body. If the label says br and the bytes are gzip, they are read as gzip."""
    if not body:
        return body  # many servers send nothing instead of an empty stream
    sure = _by_first_bytes(body)
    kinds = [kind for kind in (*_CODINGS[name], sure) if kind]
    cut = False
    for kind in dict.fromkeys(kinds):
        output = _Output(limit)
        try:
            kind(body, output)
        except _CutError:
            cut = True
        except _BrokenError:
            pass
        else:
            return output.getvalue()
    if sure is None and _is_text(body) and (not cut or len(body) >= _MIN_SURE_TEXT):
        return body
    if not kinds:
        raise BodyError(f"unknown coding {name}")
    raise BodyError(f"cut off within its {name} coding" if cut else f"damaged in its {name} coding")


def _is_text(body: bytes) -> bool:
    return body.startswith((b"\xff\xfe", b"\xfe\xff")) or not _CONTROLS.search(body, 0, _HEAD)


def _by_first_bytes(body: bytes) -> _Decompress | None:
    if body.startswith(GZIP):
        return _gzip
    return _zstd if body.startswith(zstandard.FRAME_HEADER) else None


def _gzip(body: bytes, output: _Output) -> None:
    """Decompress one gzip member or several."""
    end = _inflate(body, output, 31)
    while body.startswith(GZIP, end):
        end = _inflate(body, output, 31, end)


def _zlib(body: bytes, output: _Output) -> None:
    _inflate(body, output, 15)


def _raw_deflate(body: bytes, output: _Output) -> None:
    """Decompress deflate without its zlib frame, as some servers send it."""
    if _inflate(body, output, -15) != len(body):
        raise _BrokenError  # it has no signature, and a word or two of plain text can pass for a short stream


def _inflate(body: bytes, output: _Output, wbits: int, start: int = 0) -> int:
    """Decompress the stream that starts at `start`, and return where it ends."""
    inflater = zlib.decompressobj(wbits)
    view = memoryview(body)
    try:
        for at in range(start, len(body), _PIECE):
            piece: bytes | memoryview = view[at : at + _PIECE]
            end = at + len(piece)
            more = True
            while more and not inflater.eof:
                got = inflater.decompress(piece, _STEP)
                output.add(got)
                piece = inflater.unconsumed_tail
                more = bool(piece) or len(got) == _STEP
            if inflater.eof:
                return end - len(inflater.unused_data)
    except zlib.error:
        raise _BrokenError from None
    raise _CutError


def _zstd(body: bytes, output: _Output) -> None:
    """Decompress one Zstandard frame or several."""
    context = zstandard.ZstdDecompressor(max_window_size=max(_ZSTD_WINDOW, output.limit))
    frame = context.decompressobj()
    view = memoryview(body)
    start = 0
    try:
        while start < len(body):
            piece = view[start : start + _ZSTD_PIECE]
            output.add(frame.decompress(piece))
            start += len(piece)
            if frame.eof:
                start -= len(frame.unused_data)
                if not body.startswith(zstandard.FRAME_HEADER, start):
                    return
                frame = context.decompressobj()
    except zstandard.ZstdError:
        raise _BrokenError from None
    raise _CutError


def _brotli(body: bytes, output: _Output) -> None:
    with extra("archives"):
        import brotli  # noqa: PLC0415
    inflater = brotli.Decompressor()
    view = memoryview(body)
    try:
        for start in range(0, len(body), _PIECE):
            output.add(inflater.process(view[start : start + _PIECE], output_buffer_limit=_STEP))
            while not inflater.can_accept_more_data():
                output.add(inflater.process(b"", output_buffer_limit=_STEP))
    except brotli.error:
        raise _BrokenError from None
    if not inflater.is_finished():
        raise _CutError


def _chunks(body: bytes, limit: int, coded: bool) -> bytes:
    """Join the chunks of a body. Sizes may have leading zeros and trailing blanks, and lines may end with LF only.

    Some servers leave out the last chunk; others stop between two chunks when a program fails. So a body without it
    must either be `coded`, which has an end of its own, or end as a page does.
    """
    if not _SIZE_LINE.match(body):
        return body
    output = _Output(limit)
    view = memoryview(body)
    end = 0
    while line := _SIZE_LINE.match(body, end):
        start, end = line.end(), line.end() + int(line[1], 16)
        if start == end:
            if _AFTER_LAST.match(body, end):
                return output.getvalue()
            break
        if end > len(body):
            raise BodyError("cut off within its chunked coding")
        output.add(view[start:end])
        after = _LINE_END.match(body, end)
        if not after:
            break
        end = after.end()
        if end == len(body):
            page = output.getvalue()
            if coded or page.startswith(GZIP) or b"</html" in page[-_HEAD:].lower():
                return page
            raise BodyError("cut off within its chunked coding")
    raise BodyError("damaged in its chunked coding")


def _megabytes(limit: int) -> str:
    return f"{limit / (1_000_000 if limit % (1 << 20) else 1 << 20):.4g}"


_CODINGS: dict[str, tuple[_Decompress, ...]] = {
    "gzip": (_gzip,),
    "deflate": (_zlib, _raw_deflate),
    "br": (_brotli,),
    "zstd": (_zstd,),
    # Real codings that no server sends to a crawler. A body with one of them is refused, unless it is text.
    "compress": (),
    "dcb": (),
    "dcz": (),
    "sdch": (),
}
