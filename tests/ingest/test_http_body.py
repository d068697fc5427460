from __future__ import annotations

import gzip
import io
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import assume, given, strategies as st
from warcio.archiveiterator import ArchiveIterator

from opensearch_winnow.ingest.http_body import GZIP, MAX_CODINGS, BodyError, decoded

MB = 1_000_000
PAGE = b"<!doctype html><title>Seven</title>" + b"".join(
    b"<p>%d ducks and %d geese</p>" % (n, n * n) for n in range(200)
)


def chunked(body: bytes, size: int = 1000, end: bytes = b"\r\n", last: bytes = b"0\r\n\r\n") -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x" % len(part) + end + part + end for part in parts) + last


def raw_deflate(body: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(body) + deflater.flush()


def streamed_zstd(body: bytes) -> bytes:
    """Compress as servers do, without the size in the frame header."""
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(body) + compressor.flush()


APPLIED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", lambda body: gzip.compress(body, mtime=0)),
    "GZip": ("GZip", lambda body: gzip.compress(body, 1, mtime=0)),
    "x-gzip": (" x-gzip ", lambda body: gzip.compress(body, mtime=0)),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "br, fast": ("BR", lambda body: bytes(brotli.compress(body, quality=0))),
    "zstd": ("zstd", zstandard.compress),
    "zstd, streamed": ("zstd", streamed_zstd),
    "chunked": ("Chunked", chunked),
    "chunked, LF": ("chunked", lambda body: chunked(body, 7, b"\n", b"000\n\n")),
    "no coding": ("identity, utf-8, none,, text/html;q=1", bytes),
}
NAMES = st.sampled_from(sorted(APPLIED))
LABELS = ["gzip", "deflate", "br", "zstd", "chunked", "compress", "identity", "", "gzip, br"]


def coded(payload: bytes, names: list[str]) -> tuple[bytes, list[str]]:
    for name in names:
        payload = APPLIED[name][1](payload)
    return payload, [APPLIED[name][0] for name in names]


def outcome(body: bytes, labels: list[str], limit: int) -> tuple[bytes, str]:
    try:
        return decoded(body, labels, limit), ""
    except BodyError as error:
        return b"", str(error) or "none"


@given(st.binary(max_size=3000) | st.just(PAGE), st.lists(NAMES, max_size=MAX_CODINGS))
def test_applied_codings_are_undone(payload: bytes, names: list[str]) -> None:
    assume(not payload.startswith(GZIP))
    body, labels = coded(payload, names)
    assert decoded(body, labels, MB) == payload
    assert decoded(body, [", ".join(labels)], MB) == payload


@given(st.binary(max_size=300), st.lists(st.sampled_from(LABELS), max_size=4), st.integers(0, 400), NAMES)
def test_any_bytes_decode_or_give_a_reason(body: bytes, labels: list[str], limit: int, name: str) -> None:
    for candidate in (body, coded(body, [name])[0], coded(PAGE, [name])[0] + body, coded(PAGE, [name])[0][:200] + body):
        page, reason = outcome(candidate, labels, limit)
        assert len(page) <= limit
        assert len(reason) < 60


@given(st.binary(min_size=1, max_size=2000) | st.just(PAGE), NAMES, st.data())
def test_a_cut_body_is_never_mistaken_for_a_whole_one(payload: bytes, name: str, data: st.DataObject) -> None:
    assume(not name.startswith("no") and not payload.startswith(GZIP))
    body, labels = coded(payload, [name])
    body = body[: data.draw(st.integers(1, len(body) - 1), label="kept")]
    page, reason = outcome(body, labels, MB)
    if reason:
        assert reason == f"cut off within its {labels[0].strip().lower().removeprefix('x-')} coding"
    else:
        assert page == payload
        assert name.startswith("chunked")  # the cut is in the last chunk, which is empty


@given(NAMES, NAMES)
def test_a_cut_within_two_codings_is_reported(inner: str, outer: str) -> None:
    assume("no" not in (inner[:2], outer[:2]))
    body, labels = coded(PAGE, [inner, outer])
    with pytest.raises(BodyError, match=r"cut off|damaged"):
        decoded(body[: len(body) * 2 // 3], labels, MB)


PLAIN = [PAGE, b"", b"  <p>", b"\xdcberall G\xe4nse" * 30, b"\xff\xfe<\0p\0>\0", b"Quantum\n" * 99]


@pytest.mark.parametrize("label", LABELS)
def test_the_first_bytes_take_precedence_over_the_label(label: str) -> None:
    assert [decoded(plain, [label], MB) for plain in PLAIN] == PLAIN
    assert decoded(gzip.compress(PAGE), [label], MB) == PAGE
    zstd = zstandard.compress(PAGE)  # recognized only if a header says that the body is compressed
    assert decoded(zstd, [label], MB) == (zstd if label in ("", "identity", "chunked") else PAGE)


def test_several_members_or_frames_and_bytes_after_them() -> None:
    assert decoded(gzip.compress(gzip.compress(PAGE)), ["gzip"], MB) == PAGE
    assert decoded(gzip.compress(PAGE), ["gzip", "gzip"], MB) == PAGE
    for label, apply in (APPLIED[name] for name in ("gzip", "zstd", "zstd, streamed")):
        two = apply(PAGE[:1_000]) + apply(PAGE[1_000:])
        for after in (b"", b"\0\0\0", b"<!-- cached -->"):
            assert decoded(two + after, [label], MB) == PAGE
    assert decoded(zlib.compress(PAGE) + b"\r\n", ["deflate"], MB) == PAGE


@pytest.mark.parametrize(
    ("body", "payload"),
    [
        (b"5\r\nducks\r\n0\r\n\r\n", b"ducks"),
        (b"0005  \r\nducks\r\n00\r\n\r\n", b"ducks"),
        (b'5;name="value"\r\nducks\r\nA ; x\r\n and geese\r\n0;last\r\n\r\n', b"ducks and geese"),
        (b"a\nducks\ngees\n1\ne\n0\n\n", b"ducks\ngeese"),
        (b"5\r\nducks\r\n0\r\nExpires: never\r\nX: y\r\n\r\n", b"ducks"),
        (b"5\r\nducks\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", b"ducks"),
        (b"8\r\n</html>\n\r\n", b"</html>\n"),  # no last chunk
        (b"7\r\n</HTML>", b"</HTML>"),
        (b"5\r\nducks\r\n0", b"ducks"),
        (b"0\r\n\r\n", b""),
        (b"no size\r\nducks", b"no size\r\nducks"),
        (b"\r\n5\r\nducks", b"\r\n5\r\nducks"),
    ],
)
def test_chunks_as_servers_write_them(body: bytes, payload: bytes) -> None:
    assert decoded(body, ["chunked"], MB) == payload


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"5\r\nducks\r\n", "cut off"),
        (b"6\r\nducks", "cut off"),
        (b"5\r\nducks\r\n1f", "cut off"),
        (b"ffffffffffffffff\r\nducks", "cut off"),
        (b"4\r\nducks\r\n0\r\n\r\n", "damaged"),
        (b"7\r\nducks\r\n0\r\n\r\n", "damaged"),
        (b"5\r\nducks\r\ngeese", "damaged"),
        (b"0\r\nof 12 ducks came back", "damaged"),  # a text that begins like a last chunk
    ],
)
def test_invalid_chunks_are_reported(body: bytes, reason: str) -> None:
    with pytest.raises(BodyError, match=f"^{reason} (with)?in its chunked coding$"):
        decoded(body, ["chunked"], MB)


def test_compressed_pages_do_not_need_the_last_chunk() -> None:
    for name in ("gzip", "br", "zlib"):
        body, labels = coded(PAGE, [name])
        assert decoded(chunked(body, last=b""), [*labels, "chunked"], MB) == PAGE
        with pytest.raises(BodyError, match=f"cut off within its {labels[0]} coding"):
            decoded(chunked(body[:-20], last=b""), [*labels, "chunked"], MB)


@pytest.mark.parametrize("name", ["gzip", "zlib", "br"])  # zstd usually has no checksum
def test_damage_is_reported(name: str) -> None:
    body, labels = coded(PAGE, [name])
    body = body[:200] + b"\xa7\x00\x5c" + body[203:]
    with pytest.raises(BodyError, match=r"damaged|cut off"):
        decoded(body, labels, MB)


def test_codings_that_are_unsupported_or_too_many_are_reported() -> None:
    with pytest.raises(BodyError, match=r"^unknown coding compress$"):
        decoded(b"\x1f\x9d\x90\x3c\x42\x00", ["x-compress"], MB)
    body, labels = coded(PAGE, ["gzip"] * 6)
    for said in (labels, labels[:5], labels[:1], []):
        with pytest.raises(BodyError, match=r"^more than 5 codings$"):
            decoded(body, said, MB)


@pytest.mark.parametrize("name", sorted(APPLIED))
def test_the_limit_is_exact(name: str) -> None:
    body, labels = coded(PAGE, [name])
    assert decoded(body, labels, len(PAGE)) == PAGE
    with pytest.raises(BodyError, match="larger than"):
        decoded(body, labels, len(PAGE) - 1)


@pytest.mark.parametrize(("limit", "said"), [(10 * MB, "10 MB"), (10 << 20, "10 MB"), (1_500_000, r"1\.5 MB")])
def test_the_reason_names_the_limit(limit: int, said: str) -> None:
    with pytest.raises(BodyError, match=f"^larger than {said} once decoded$"):
        decoded(gzip.compress(bytes(20 * MB), 1), ["gzip"], limit)


BOMBS = {
    "gzip": "gzip.compress(bytes(1 << 24)) * 64",
    "gzip in gzip": "gzip.compress(gzip.compress(bytes(1 << 24)) * 64)",
    "deflate": "zlib.compress(bytes(1 << 28), 1)",
    "br": "brotli.compress(bytes(1 << 28), quality=5)",
    "zstd": "zstandard.compress(bytes(1 << 24)) * 64",
    # Blocks of four bytes, each a run of 128 kB, without an end: the highest ratio that zstd can have.
    "zstd runs": r"b'\x28\xb5\x2f\xfd\x00\x50' + b'\x02\x00\x10\x00' * 8192",
    "zstd window": r"b'\x28\xb5\x2f\xfd\x00\xa0' + b'\x02\x00\x10\x00' * 8192",  # requires a window of 1 GB
}


DECODE_SCRIPT = """
import resource, sys
from opensearch_winnow.ingest.http_body import BodyError, decoded
def peak():
    try:  # getrusage includes the peak of the parent process
        return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
body = open(sys.argv[1], "rb").read()
before = peak()
try:
    decoded(body, sys.argv[2:], 10_000_000)
except BodyError as error:
    print(error)
print(peak() - before, end="")
"""


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_a_decompression_bomb_takes_little_memory(name: str, tmp_path: Path) -> None:
    """The bombs have 0.25 to 1 GB once decoded. The peak memory of the process grows by less than 32 MB."""
    bomb = tmp_path / "bomb"
    label = name.split(maxsplit=1)[0]
    making = f"import gzip, zlib, brotli, zstandard, sys; sys.stdout.buffer.write({BOMBS[name]})"
    bomb.write_bytes(subprocess.run([sys.executable, "-c", making], stdout=subprocess.PIPE, check=True).stdout)
    assert bomb.stat().st_size < 2 * MB
    run = [sys.executable, "-c", DECODE_SCRIPT, str(bomb), label]
    done = subprocess.run(run, stdout=subprocess.PIPE, check=True, text=True, timeout=60)
    reason, kilobytes = done.stdout.split("\n")
    assert reason == ("damaged in its zstd coding" if name == "zstd window" else "larger than 10 MB once decoded")
    assert int(kilobytes) < 32_000


def test_bodies_of_real_crawls(unpacked: Callable[[str], Path]) -> None:
    """Most bodies labelled chunked or gzip are not: the crawler decoded them and kept the header. One is cut off."""
    undone = Counter[str]()
    for body, codings in _responses(unpacked("warc-samples")):
        page, reason = outcome(body, codings, 10 * MB)
        assert page.lstrip().startswith((b"<", b"\xef\xbb\xbf<")) or reason or body in (page, b"0\r\n\r\n")
        undone.update([f"{' '.join(codings)}: {reason or ('undone' if page != body else 'left')}"])
    assert undone == {
        ": left": 208,
        "chunked: left": 16,
        "chunked: undone": 6,
        "gzip: left": 29,
        "gzip: undone": 8,
        "gzip: cut off within its gzip coding": 1,
    }


def _responses(folder: Path) -> Iterator[tuple[bytes, list[str]]]:
    damaged = {"clipped.warc.gz", "example-url-agnostic-orig.warc.gz", "example-url-agnostic-revisit.warc.gz"}
    paths = (path for path in folder.rglob("*.warc*") if path.suffix in (".warc", ".gz"))
    for path in (path for path in paths if path.name not in damaged):
        content = path.read_bytes()
        for record in ArchiveIterator(io.BytesIO(gzip.decompress(content) if path.suffix == ".gz" else content)):
            headers = record.http_headers if record.rec_type == "response" else None
            if headers and "html" in (headers.get_header("Content-Type") or ""):
                said = [headers.get_header(name) for name in ("Content-Encoding", "Transfer-Encoding")]
                yield record.raw_stream.read(), [coding for coding in said if coding]
