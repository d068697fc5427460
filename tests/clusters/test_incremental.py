"""A growing crawl that is clustered with a state has the same tables as one that is clustered at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from tests.clusters.conftest import (
    SCHEMES,
    TABLES,
    Crawl,
    cluster_to_folder,
    page_record,
    small_crawl,
    words,
    write_records,
)

OPTIONS = st.builds(
    ClusteringOptions,
    threshold=st.sampled_from([0.3, 0.5, 0.8]),
    linkage=st.sampled_from(["representatives", "components"]),
    fast=st.booleans(),
    compared=st.sampled_from([2, 3, 5, 100]),
)


def tables(
    records: list[str], options: ClusteringOptions, folder: Path, **settings: Any
) -> tuple[ClusteringResult, list[bytes]]:
    folder.mkdir()
    found = cluster_to_folder(records, options, folder, **settings)
    return found, [(folder / f"{name}.parquet").read_bytes() for name in TABLES]


def growing(seed: int, scheme: Scheme, in_time: bool) -> Crawl:
    """Return a crawl whose later files add pages at the end or at any time, and repeat or replace some pages."""
    random = Random(seed)
    records = small_crawl(seed, 80, scheme, 1).records
    if in_time:
        records.sort(key=lambda record: (record.fetched_at is None, record.fetched_at))
    cuts = sorted(random.sample(range(len(records)), 2))
    files = [records[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    again = [record for record in records if record not in files[2] and random.random() < 0.1]
    changed = random.random() < 0.3
    for record in again:
        others = (
            [each for each in records if each.hashes.shingle_digest != record.hashes.shingle_digest] if changed else []
        )
        replaced = replace(random.choice(others), url=record.url, fetched_at=record.fetched_at) if changed else None
        files[2].append(replaced or replace(record, title="Another", cluster=records[0].id))
    return Crawl(scheme, files)


@pytest.mark.check
@settings(max_examples=8)
@given(st.integers(0, 2**32), st.sampled_from(SCHEMES), st.booleans(), OPTIONS)
def test_same_tables_as_at_once(seed: int, scheme: Scheme, in_time: bool, options: ClusteringOptions) -> None:
    crawl = growing(seed, scheme, in_time)
    with TemporaryDirectory() as name:
        folder = Path(name)
        records = crawl.write(folder)
        cluster_records(records[:1], options, RunSettings(state=str(folder / "state")))
        for end in (2, 3):
            whole, expected = tables(records[:end], options, folder / f"whole-{end}")
            found, written = tables(records[:end], options, folder / f"grown-{end}", state=str(folder / "state"))
            assert written == expected
            assert (found.pages, found.contents, found.edges) == (whole.pages, whole.contents, whole.edges)
            assert (found.sizes, found.largest_clusters) == (whole.sizes, whole.largest_clusters)


@pytest.fixture
def family() -> list[Record]:
    """40 near-copies, one every two seconds."""
    random = Random(3)
    text = words(random, 200)
    texts = {time: " ".join([*text, *words(random, 5)]) for time in range(0, 80, 2)}
    return [page_record(f"https://example.org/{time}", text, time=time) for time, text in texts.items()]


def check_grown(files: list[str], folder: Path, state: str, compared: int = 4) -> ClusteringResult:
    """Check that the tables are those of a run at once, and return the result."""
    options = ClusteringOptions(compared=compared)
    _, expected = tables(files, options, folder / f"whole-{len(files)}")
    found, written = tables(files, options, folder / f"grown-{len(files)}", state=state)
    assert written == expected
    return found


def test_only_what_is_new_is_compared(tmp_path: Path, family: list[Record]) -> None:
    options, state = ClusteringOptions(compared=6), str(tmp_path / "state")
    first = write_records(tmp_path / "first.parquet", family[:30])
    found = cluster_records([first], options, RunSettings(state=state))
    assert found.fresh == 30
    assert found.candidates.compared > 100
    again = cluster_records([first], options, RunSettings(state=state))
    assert (again.fresh, again.candidates.compared, again.edges) == (0, 0, found.edges)
    second = write_records(tmp_path / "second.parquet", family[30:])
    grown = cluster_records([first, second], options, RunSettings(state=state))
    assert grown.fresh == 10
    whole = cluster_records([first, second], options)
    assert whole.fresh is None
    assert grown.candidates.compared == whole.candidates.compared - found.candidates.compared
    assert grown.sizes == whole.sizes == {40: 1}


def test_a_page_from_before_is_put_in_its_place(tmp_path: Path, family: list[Record]) -> None:
    """It becomes the representative, and the pairs that are left out change."""
    options, state = ClusteringOptions(compared=4), str(tmp_path / "state")
    files = [write_records(tmp_path / "later.parquet", family[1:])]
    cluster_records(files, options, RunSettings(state=state))
    odd = page_record("https://example.org/odd", family[9].text + " more", time=11)
    for number, page in enumerate((family[0], odd)):
        files.append(write_records(tmp_path / f"{number}.parquet", [page]))
        assert check_grown(files, tmp_path, state).largest_clusters[0].cluster == family[0].id


def test_a_content_whose_first_page_is_now_another(tmp_path: Path, family: list[Record]) -> None:
    options, state = ClusteringOptions(compared=4), str(tmp_path / "state")
    copy = page_record("https://example.org/copy", family[5].text, time=100)
    files = [write_records(tmp_path / "first.parquet", [*family, copy])]
    cluster_records(files, options, RunSettings(state=state))
    files.append(write_records(tmp_path / "second.parquet", [page_record(family[5].url, "something else", time=10)]))
    assert check_grown(files, tmp_path, state).fresh == 2


def test_pages_that_are_gone(tmp_path: Path, family: list[Record]) -> None:
    options, state = ClusteringOptions(compared=4), str(tmp_path / "state")
    left = [*family[:9], *family[20:]]
    whole, fewer = ([write_records(tmp_path / f"{len(some)}.parquet", some)] for some in (family, left))
    cluster_records(whole, options, RunSettings(state=state))
    check_grown(fewer, tmp_path, state)


def test_a_state_is_of_one_way_to_cluster(tmp_path: Path, family: list[Record]) -> None:
    records, state = [write_records(tmp_path / "r.parquet", family)], str(tmp_path / "state")
    cluster_records(records, ClusteringOptions(), RunSettings(state=state))
    # Both linkages use the same edges.
    cluster_records(records, ClusteringOptions(linkage="components"), RunSettings(state=state))
    for options, complaint in (
        (ClusteringOptions(threshold=0.6), r"was made with threshold 0.5, not 0.6"),
        (ClusteringOptions(fast=True), r"was made with fast False, not True"),
        (ClusteringOptions(compared=7), r"was made with compared 100, not 7"),
    ):
        with pytest.raises(ClusterError, match=complaint):
            cluster_records(records, options, RunSettings(state=state))
    other = Scheme.preset("passages")
    path = write_records(tmp_path / "other.parquet", [page_record("a", "some words", other)], other)
    with pytest.raises(ClusterError, match=f"was made with scheme {Scheme().id}, not {other.id}"):
        cluster_records([path], ClusteringOptions(), RunSettings(state=state))


def test_a_folder_with_a_name_that_could_be_a_pattern_and_one_of_other_things(
    tmp_path: Path, family: list[Record]
) -> None:
    records = [write_records(tmp_path / "r.parquet", family)]
    settings = RunSettings(state=str(tmp_path / "it's [a] state*"))
    assert [cluster_records(records, ClusteringOptions(), settings).fresh for _ in range(2)] == [40, 0]
    there = sorted(tmp_path.iterdir())
    with pytest.raises(ClusterError, match="has other files: name an empty or a new folder for the state"):
        cluster_records(records, ClusteringOptions(), RunSettings(state=str(tmp_path)))
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.check
@pytest.mark.parametrize("name", ["contents.parquet", "edges.parquet"])
def test_a_state_that_is_damaged(tmp_path: Path, family: list[Record], name: str) -> None:
    records, state = [write_records(tmp_path / "r.parquet", family)], tmp_path / "state"
    output = tmp_path / "clusters.parquet"
    settings = RunSettings(state=str(state), output=str(output), overwrite=True)

    def clusters() -> bytes | str:
        """Return the table of clusters, or the error message."""
        try:
            cluster_records(records, ClusteringOptions(), settings)
        except ClusterError as error:
            return str(error)
        return output.read_bytes()

    expected = clusters()
    damaged = f"the state in {state} is damaged or cannot be read: remove it to start over"
    files = {path: path.read_bytes() for path in state.iterdir()}
    whole = files[state / name]
    outcomes = []
    for place in range(5, len(whole), len(whole) // 12):
        for path, content in files.items():
            path.write_bytes(content)
        (state / name).write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        outcomes.append(clusters())
    assert {*outcomes} <= {expected, damaged}  # some bytes do not matter
    assert outcomes.count(damaged) > 3
    (state / name).write_bytes(whole[:-9])
    assert clusters() == damaged
    assert output.read_bytes() == expected
    (state / name).unlink()
    assert clusters() == expected
