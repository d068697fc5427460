"""Finds the rows that are in other rows, on one machine."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
import pyarrow.compute as pc

from opensearch_winnow.clusters.arrow_columns import to_column, to_numbers
from opensearch_winnow.clusters.duckdb_edges import EARLIER, LATER, POSTINGS, Edges
from opensearch_winnow.clusters.flat_files import PairFiles, PostingFiles, SetFile
from opensearch_winnow.clusters.map_ahead import map_ahead

MISS_PROBABILITY = 1e-5  # that none of a row's tokens is in a row that contains it
MAX_TOKENS = 256  # of a row
CANDIDATES = pa.schema([("pair", pa.int64())])
CONTAINED = pa.schema(
    [
        ("pair", pa.int64()),
        ("resemblance", pa.float64()),
        ("earlier_share", pa.float64()),  # how much of the earlier row is in the later one
        ("later_share", pa.float64()),
    ]
)


def token_count(threshold: float) -> int:
    """Return how many of a row's shingles to look for: (1 - threshold) to this power is at most MISS_PROBABILITY."""
    if threshold >= 1:
        return 1
    return min(math.ceil(math.log(MISS_PROBABILITY) / math.log(1 - threshold)), MAX_TOKENS)


class Containments(Edges):
    """Creates the tables `pages` and `contained`: the pairs of rows of which one is in the other.

    The tokens of a row are its smallest shingles, which are a random sample. Every row is looked up for the tokens of
    all others, and the pairs that share one are compared by their shingles.
    """

    def make_edges(self, *, use_state: bool = False) -> None:
        """Create the table `contained`."""
        assert not use_state
        con = self._con
        for batch in con.batches("SELECT number, shingle_count::UINTEGER FROM pages"):
            numbers, counts = (to_numbers(column, "I") for column in batch.columns)
            for number, count in zip(numbers, counts, strict=True):
                self._shingle_counts[number] = count
        con.feed("CREATE TABLE tokens AS SELECT DISTINCT token FROM input_rows", POSTINGS, self._tokens())
        with (
            closing(PostingFiles(self._folder / "postings", self.pages)) as postings,
            closing(PairFiles(self._folder / "pairs", self.pages)) as pairs,
        ):
            looked_up = "SELECT token, page FROM input_rows SEMI JOIN tokens USING (token)"
            for batch in con.through(looked_up, POSTINGS, self._shingle_postings()):
                postings.add(to_numbers(batch.column(0), "Q"), to_numbers(batch.column(1), "I"))
            con.run("DROP TABLE tokens")
            self._propose_pairs(postings, pairs)
            con.feed("CREATE TABLE candidates AS SELECT * FROM input_rows", CANDIDATES, _distinct(pairs))
        con.feed("CREATE TABLE contained AS SELECT * FROM input_rows", CONTAINED, self._contained())

    def _shingle_postings(self) -> Iterator[pa.RecordBatch]:
        """Yield the postings of all shingles of the first row of each content."""
        for row, batch in self._scan.columns("shingles"):
            self._progress("looking up", row, self.pages)
            pages, is_first = self._row_numbers(row, len(batch))
            yield _postings(pages.filter(is_first), batch.column(0).filter(is_first))

    def _tokens(self) -> Iterator[pa.RecordBatch]:
        """Yield the postings of the tokens of each content. Rows of an earlier set have none: nothing drops them."""
        most = token_count(self._options.threshold)
        for row, batch in self._scan.columns("shingles", "earlier_set"):
            self._progress("reading tokens", row, self.pages)
            pages, is_first = self._row_numbers(row, len(batch))
            wanted = pc.and_(is_first, pc.invert(batch.column("earlier_set")))
            shingles = batch.column("shingles").filter(wanted)
            yield _postings(pages.filter(wanted), pc.list_slice(shingles, 0, most, return_fixed_size_list=False))

    def _contained(self) -> Iterator[pa.RecordBatch]:
        """Yield the pairs of which one row is in the other."""
        threshold = self._options.threshold
        counts = to_column(self._shingle_counts)
        total, *_ = self._con.row("SELECT count(*) FROM candidates")
        done = 0
        with closing(SetFile(self._folder / "shingles", self.pages)) as sets:
            if total:
                self._store_candidates(sets)

            def compare(batch: pa.RecordBatch) -> pa.RecordBatch:
                pair = batch.column(0)
                resemblance = to_column(sets.resemblances(to_numbers(pair, "Q")))
                earlier, later = (
                    counts.take(pc.shift_right(pair, 32)).cast(pa.float64()),
                    counts.take(pc.bit_wise_and(pair, 0xFFFFFFFF)).cast(pa.float64()),
                )
                # The number of common shingles, which is whole.
                common = pc.round(pc.divide(pc.multiply(resemblance, pc.add(earlier, later)), pc.add(resemblance, 1.0)))
                shares = pc.divide(common, earlier), pc.divide(common, later)
                compared = pa.record_batch([pair, resemblance, *shares], schema=CONTAINED)
                return compared.filter(pc.greater_equal(pc.max_element_wise(*shares), threshold))

            for batch in map_ahead(
                compare, self._con.batches("SELECT pair FROM candidates ORDER BY pair"), self._threads
            ):
                self._progress("comparing texts", done, total)
                done += len(batch)
                yield batch
                sets.release_memory()

    def _store_candidates(self, sets: SetFile) -> None:
        """Store the shingles of all rows in candidate pairs."""
        wanted = array("B", bytes(self.pages))
        ends = " UNION ".join(f"SELECT {end} AS page FROM candidates" for end in (EARLIER, LATER))
        for batch in self._con.batches(ends):
            for page in to_numbers(batch.column(0), "Q"):
                wanted[page] = 1
        flags = to_column(wanted)
        for row, batch in self._scan.columns("shingles"):
            self._progress("reading shingles", row, self.pages)
            pages, is_first = self._row_numbers(row, len(batch))
            chosen = pc.and_(is_first, pc.equal(flags.take(pages), 1))
            shingles = batch.column(0).filter(chosen)
            offsets, values = shingles.offsets.to_pylist(), to_numbers(shingles.values, "Q")
            for page, start, end in zip(to_numbers(pages.filter(chosen), "I"), offsets, offsets[1:], strict=False):
                sets[page] = values[start:end]
        sets.complete()


def _postings(pages: pa.Array, tokens: pa.ListArray) -> pa.RecordBatch:
    return pa.record_batch([tokens.flatten(), pages.take(pc.list_parent_indices(tokens))], schema=POSTINGS)


def _distinct(pairs: PairFiles) -> Iterator[pa.RecordBatch]:
    for part in range(pairs.parts):
        yield pa.record_batch([to_column(pairs.distinct(part))], schema=CANDIDATES)
