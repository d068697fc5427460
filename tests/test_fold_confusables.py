"""A store in which letters that look alike are one finds copies with letters of other scripts."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from opensearch_winnow import Index, Page, Scheme, compare, fingerprint
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.stores.store import StoreError
from tests.refused import refused

FOLDED = Scheme(noise=20, guarantee=40, fold_confusables=True)
TEXT = (Path(__file__).parent.parent / "docs" / "examples" / "miller.txt").read_text(encoding="utf-8")
DISGUISED = TEXT.translate(str.maketrans("aceiopxyBHKMT", "асеіорхуВНКМТ"))


@pytest.fixture(params=["file", pytest.param("opensearch", marks=pytest.mark.check)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    engine = request.getfixturevalue("engine").url if request.param == "opensearch" else None
    return f"{engine}/folded-{uuid4().hex}" if engine else f"{tmp_path}/folded.winnow"


def test_a_disguised_copy_is_found_in_a_store(place: str) -> None:
    mill, copied = "https://mill.example/", "https://mill.example/copy"
    with Index.open(place, scheme=FOLDED) as index:
        index.add([Page(mill, text=TEXT), Page(copied, text=DISGUISED)])
    with Index.open(place) as index:
        assert index.scheme == FOLDED
        found = index.similar(text=DISGUISED, min_resemblance=0.9)
        assert {(match.url, match.resemblance) for match in found} == {(mill, 1.0), (copied, 1.0)}
        (copy,) = index.similar(url=mill)
        (passage,) = copy.passages
        assert TEXT[passage.start : passage.end].startswith("The miller")
        assert DISGUISED[passage.other_start : passage.other_end].startswith("Тhе mіllеr")
    refused(StoreError, "different schemes", Index.open, place, scheme=Scheme(noise=20, guarantee=40))


def test_without_folding_a_disguised_copy_is_another_text() -> None:
    assert compare(TEXT, DISGUISED).resemblance < 0.1
    assert compare(TEXT, DISGUISED, FOLDED).resemblance == 1
    assert fingerprint(TEXT, FOLDED).hashes == fingerprint(DISGUISED, FOLDED).hashes


@pytest.mark.parametrize("scheme", [FOLDED, Scheme()])
def test_a_written_scheme_is_read_again(scheme: Scheme) -> None:
    kept = written(scheme)
    assert kept.scheme() == scheme
    assert ("fold_confusables" in kept.choices) == scheme.fold_confusables  # as in stores that are older than it
