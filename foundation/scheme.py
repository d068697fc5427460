"""The scheme: every choice that decides which hashes a text gets."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Literal

from opensearch_winnow.cython_core.canonical_text import NORMALISATION
from opensearch_winnow.cython_core.fingerprints import SELECTIONS
from opensearch_winnow.foundation.errors import SchemeError

FORMS = ("text", "consonants", "code")
CODE_RULE = 1  # the version of code_tokens.py: part of the id of a scheme of form code, since it decides every hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """Frozen, checked as it is made, and known by a short `id`. Hashes of two schemes are never compared.

    No match shorter than `noise` canonical characters is ever reported, and none of `guarantee` or more is ever missed.
    Of code a canonical character is a token, and so is a word.
    """

    noise: int = 50  # k of the winnowing paper, and these two are the values of its experiments on the Web
    guarantee: int = 149  # t = w + k - 1, so that w = 100
    selection: Literal["winnow", "open-closed", "mod-minimizer", "mod-p"] = "winnow"
    # consonants: as Koala compares, for text from bad conversions; code: the tokens of a program, as MOSS compares
    form: Literal["text", "consonants", "code"] = "text"
    shingle: int = 10  # words, as Broder and others took for the Web
    modulus: int = 25  # of the MOD_m sketch, which keeps one shingle in so many; theirs too
    bins: int = 1024  # of MinHash, at `bits` each: 512 bytes a page (docs/decisions/0004-sketches.md)
    bits: int = 4
    bands: int = 32  # 32 bands of 4 bins make two pages candidates with 87 % at a resemblance of .5, 99.98 % at .7
    rows: int = 4
    key: str | None = field(default=None, repr=False)  # a secret, without which nobody can tell what is picked
    normalisation: int = NORMALISATION  # version of the canonical text's rule and Unicode tables

    def __post_init__(self) -> None:
        complaints = self._complaints()
        if complaints:
            raise SchemeError("this scheme cannot be:\n" + "\n".join(f"  - {complaint}" for complaint in complaints))

    def _complaints(self) -> list[str]:
        complaints = []
        for name, least, most in (
            ("noise", 1, 1_000_000),
            ("guarantee", 1, 2_000_000),
            ("shingle", 1, 10_000),
            ("modulus", 1, 2**32),
            ("bins", 1, 65_536),
            ("bands", 1, 65_536),
            ("rows", 1, 65_536),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                complaints.append(f"{name} is a whole number from {least:,} to {most:,}, not {value!r}")
        for name, choices in (
            ("selection", SELECTIONS),
            ("form", FORMS),
            ("bits", (1, 2, 4, 8, 16)),
            ("normalisation", (NORMALISATION,)),
        ):
            value = getattr(self, name)
            if value not in choices or type(value) is not type(choices[0]):
                complaints.append(f"{name} is one of {', '.join(map(str, choices))}, not {value!r}")
        if self.key is not None and (type(self.key) is not str or not self.key):
            complaints.append("key is a text of at least one character, or None")
        if not complaints:
            if self.guarantee < self.noise:
                complaints.append(f"guarantee is at least noise: {self.guarantee} is below {self.noise}")
            if self.bands * self.rows > self.bins:
                complaints.append(
                    f"{self.bands} bands of {self.rows} rows take more than the {self.bins} bins there are"
                )
        return complaints

    @classmethod
    def preset(cls, name: str) -> Scheme:
        """A scheme for a purpose: pages (the default), passages, ideographs, consonants or code."""
        if name not in PRESETS:
            raise SchemeError(f"no preset {name!r}; there are {', '.join(PRESETS)}")
        return PRESETS[name]

    @property
    def k(self) -> int:
        """The noise threshold: characters in a k-gram."""
        return self.noise

    @property
    def t(self) -> int:
        """The guarantee threshold."""
        return self.guarantee

    @property
    def w(self) -> int:
        """The window: of so many k-grams in a row, one is always kept."""
        return self.guarantee - self.noise + 1

    @property
    def consonants(self) -> bool:
        """Whether vowels are left out."""
        return self.form == "consonants"

    @property
    def seed(self) -> int:
        """What the key does to the hashes, as a 64-bit integer; 0 without a key."""
        return 0 if self.key is None else int.from_bytes(self._keyed(b"seed"), "little")

    @property
    def id(self) -> str:
        """Short and stable: schemes of the same id give every text the same hashes. The key is in it as a digest only.

        With form code the version of Pygments is in it too, whose lexers decide what a token is and change with every
        release: hashes of code by two versions are never compared, and a store of them is filled anew.
        """
        choices: dict[str, object] = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.form == "code":
            import pygments  # noqa: PLC0415 (only who compares code waits for it)

            choices["code"] = [CODE_RULE, pygments.__version__]  # of the code that runs, whatever metadata says
        choices["key"] = None if self.key is None else self._keyed(b"id").hex()
        digest = blake2b(json.dumps(choices, sort_keys=True).encode(), digest_size=5)
        return f"{self.noise}-{self.guarantee}-{digest.hexdigest()}"

    def _keyed(self, purpose: bytes) -> bytes:
        assert self.key is not None
        return blake2b(self.key.encode("utf-8", "surrogatepass"), digest_size=8, person=b"winnow " + purpose).digest()


PRESETS = {
    "pages": Scheme(),
    # Quotations of a sentence or less, for four to five times as many fingerprints.
    "passages": Scheme(noise=20, guarantee=40),
    # Chinese and Japanese, where a character says about as much as three letters do.
    "ideographs": Scheme(noise=15, guarantee=45),
    # Koala's 20 consonants, 30 to 45 letters of English, with a window as long as the k-gram.
    "consonants": Scheme(form="consonants", noise=20, guarantee=40),
    # 30 tokens, about five lines: of unrelated files of one language one pair in 50 shares so many, and one in ten 20.
    "code": Scheme(form="code", noise=30, guarantee=50),
}
