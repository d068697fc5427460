"""Canonical text in many scripts, compared with the obvious Python code."""

from __future__ import annotations

import unicodedata
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from benchmarks.corpus import source, text
from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.canonical_text import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterator

CHARACTERS = 2_000_000

# A few phrases in each script, to be drawn at random: what matters is which characters stand beside each other.
PHRASES = {
    "German": "Am Morgen fährt die Straßenbahn über den Fluss, vorbei an grünen Gärten, großen Häusern, der Bäckerei.",
    "Russian": "Утром трамвай едет через реку, мимо зелёных садов, больших домов и маленькой булочной на углу.",
    "Greek": "Το πρωί το τραμ περνάει το ποτάμι, δίπλα από πράσινους κήπους, μεγάλα σπίτια και τον φούρνο στη γωνία.",
    "Arabic": "في الصباح يعبر القطار النهر، ويمرّ بالحدائق الخضراء والبيوت الكبيرة والمخبز الصغير عند الزاوية.",
    "Hindi": "सुबह ट्राम नदी के ऊपर से जाती है, हरे बाग़ों, बड़े घरों और कोने की छोटी दुकान के पास से।",
    "Thai": "ตอนเช้า|รถราง|ข้ามแม่น้ำ|ผ่านสวน|สีเขียว|บ้านหลังใหญ่|และร้านขนมปัง|เล็กๆ|ตรงมุมถนน ",
    "Chinese": "早晨，|电车|驶过河流，|经过|绿色的花园、|高大的房屋|和街角的|小面包店。",
    "Japanese": "朝、|路面電車は|川を渡り、|緑の庭や|大きな家、|角の|パン屋さんの|そばを|通る。",
    "Korean": "아침에 전차가 강을 건너서, 푸른 정원과 큰 집들, 그리고 모퉁이의 작은 빵집을 지나간다.",
    "Vietnamese": "Buổi sáng, tàu điện chạy qua sông, qua những khu vườn xanh, những ngôi nhà lớn và tiệm bánh ở góc.",
}


def tables(run: Run) -> Iterator[Table]:
    rows = []
    for name, sample in samples(run.size(CHARACTERS, least=1_000)):
        seconds = alternate(
            {
                "canonical text": partial(canonical_text, sample),
                "with offsets": partial(with_offsets, sample),
                "in Python": partial(in_python, sample[: len(sample) // 10]),
            }
        )
        megabytes = len(sample.encode()) / 1e6
        rows.append(
            (
                name,
                f"{megabytes / seconds['canonical text']:.0f}",
                f"{megabytes / seconds['with offsets']:.0f}",
                times(10 * seconds["in Python"] / seconds["canonical text"]),
            )
        )
    yield Table(
        "Canonical text",
        ("", "MB/s of UTF-8", "with offsets", "faster than Python by"),
        rows,
        f"Aim: 300 MB/s for ASCII, 50 for other scripts. {source()} For other languages, phrases in random order. "
        "The Python code is NFKC, `casefold`, then `str.isalnum`; it loses marks, and gives no words and no offsets.",
    )


def samples(characters: int) -> Iterator[tuple[str, str]]:
    yield "English, ASCII", text(characters).encode("ascii", "ignore").decode()
    yield "English, with some “quotes”", text(characters).encode("ascii", "ignore").decode() + "“quotes”"
    for name, phrases in PHRASES.items():
        gap = "" if "|" in phrases else " "
        sample = gap.join(Random(0).choices(phrases.split("|" if "|" in phrases else None), k=characters // 4))[
            :characters
        ]
        if name in ("Korean", "Vietnamese"):
            yield f"{name}, NFC", unicodedata.normalize("NFC", sample)
            yield f"{name}, NFD", unicodedata.normalize("NFD", sample)
        else:
            yield name, sample


def with_offsets(sample: str) -> None:
    assert canonical_text(sample).offsets is not None


def in_python(sample: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", sample).casefold()))
