"""The body of a response, without the codings it was sent in."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterable, Sequence

import zstandard

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import extra

MAX_CODINGS = 5  # curl's limit; two is the most that an honest server needs
GZIP = b"\x1f\x8b\x08"  # its third byte is the method, and there is only this one

_PIECE = 16_384  # compressed bytes at a time: what is left of them after the end of a gzip member is copied
_ZSTD_PIECE = 128  # zstandard has no bound on output, but 4 bytes are 128 kB at most, so this piece is 4 MB at most
_STEP = 1 << 18  # decompressed bytes at a time; brotli may give twice as many
_WINDOW = 8 << 20  # the largest that RFC 9659 allows a zstd body, and far less than one can ask for
_HEAD = 1_024  # bytes that tell text from compressed data: one in ten of those is a control character
_SURE = 256  # and so many of them without one are text: 0.9 ** 256 is nothing

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # that text has no use for; ESC switches Japanese encodings
_LINE_END = re.compile(rb"\r?(?:\n|\Z)")
_SIZE_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\n]{0,4096})?\r?(?:\n|\Z)")
_AFTER_LAST = re.compile(rb"\r?(?:\n|\Z)|[\w!#$%&'*+.^`|~-]+:")  # an empty line, nothing, or a trailer field


class BodyError(WinnowError):
    """A body that its codings cannot be taken off. Its message is a reason to count pages by."""


class _FullError(Exception):
    """The limit is reached."""


class _CutError(Exception):
    """The bytes end before the coding does."""


class _BrokenError(Exception):
    """These bytes are not, or not only, what the coding gives."""


class _Output(io.BytesIO):
    """Bytes up to a limit."""

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
    """The body as it was before `codings`, which are in the order they were applied, were applied to it.

    Labels are often wrong. Plain text that is said to be coded is left as it is; gzip that is not said to be is undone,
    as no page starts like it; of deflate both kinds are known; words that name no coding are ignored. Bytes after the
    end of gzip, zlib, zstd and the last chunk are dropped.

    A body that is cut off or damaged within a coding raises BodyError, also where a browser would show the part that
    can be read: that part, compared as if it were the page, would make two captures differ that do not. The one end
    that may be missing is the last chunk of a chunked body, if the rest ends with </html> or has a coding of its own.

    Neither the body nor what it is between two codings may be larger than `limit`. Decompressing takes about as much
    again, 20 MB at least.
    """
    names = [name for coding in codings for name in _names(coding)]
    left = MAX_CODINGS
    if len(names) > left:
        raise BodyError(f"more than {MAX_CODINGS} codings")
    try:
        while names:
            name = names.pop()
            body = _chunks(body, limit, bool(names)) if name == "chunked" else _undone(body, name, limit)
            left -= 1
        while body.startswith(GZIP):
            if not left:
                raise BodyError(f"more than {MAX_CODINGS} codings")
            body, left = _undone(body, "gzip", limit), left - 1
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


def _undone(body: bytes, name: str, limit: int) -> bytes:
    """A compressed body as it was before. Says the server br and it is gzip, then it is gzip."""
    if not body:
        return body  # with nothing to compress many servers send nothing, not an empty stream
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
    if sure is None and _is_text(body) and (not cut or len(body) >= _SURE):
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
    """One gzip member or several."""
    end = _inflate(body, output, 31)
    while body.startswith(GZIP, end):
        end = _inflate(body, output, 31, end)


def _zlib(body: bytes, output: _Output) -> None:
    _inflate(body, output, 15)


def _raw_deflate(body: bytes, output: _Output) -> None:
    """Deflate without its frame: what some servers took the word for."""
    if _inflate(body, output, -15) != len(body):
        raise _BrokenError  # with no first bytes to tell it by, a word or two of plain text can pass for a short stream


def _inflate(body: bytes, output: _Output, wbits: int, start: int = 0) -> int:
    """Returns where the stream that starts at `start` ends."""
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
    """One zstd frame or several."""
    context = zstandard.ZstdDecompressor(max_window_size=max(_WINDOW, output.limit))
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
    """A chunked body in one piece. Sizes may have zeros before and blanks behind them, lines may end with LF only.

    Some servers leave the last chunk out; others stop between two chunks when a program fails. So without it a body has
    to be `coded`, with an end that will be looked for, or to end as a page does.
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
    # Real ones that nobody sends to a crawler: a body that is no text says so, and is not taken for text.
    "compress": (),
    "dcb": (),
    "dcz": (),
    "sdch": (),
}
