"""Finds the rows that are in other rows, on one machine."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
import pyarrow.compute as pc

from opensearch_winnow.clusters.arrow_columns import to_column, to_numbers
from opensearch_winnow.clusters.deduplication.containers import Containers
from opensearch_winnow.clusters.duckdb_clusters import FOLLOWERS
from opensearch_winnow.clusters.duckdb_edges import EARLIER, LATER, POSTINGS, Edges
from opensearch_winnow.clusters.flat_files import PostingFiles, SetFile
from opensearch_winnow.clusters.map_ahead import map_ahead
from opensearch_winnow.cython_core.posting_parts import bundle_postings, put_rows

FIRST_BUNDLES = 16  # of each row, looked up in the first round: enough to drop most rows of a family of copies
MAX_BUNDLES = 1 << 32
# Each round for crowds compares a row with ten times as many rows of a crowd as the one before, up to MAX_LIMIT. It is
# not begun if that takes more than PAIRS_PER_ROW comparisons for each row, unless they are fewer than MIN_PAIRS, which
# are all pairs of 4,000 rows.
GROWTH, MAX_LIMIT = 10, 1_000_000
PAIRS_PER_ROW, MIN_PAIRS = 1_000, 10_000_000
CONTAINED = pa.schema(
    [
        ("pair", pa.int64()),
        ("resemblance", pa.float64()),
        ("earlier_share", pa.float64()),  # share of the earlier row that is in the later one
        ("later_share", pa.float64()),
    ]
)
# The shingles of a row that are in no other row are in no bundle.
CREATE_BUNDLES = """
CREATE TABLE bundles AS
SELECT token AS bundle, page, count(*)::UINTEGER AS shingles FROM input_rows GROUP BY bundle, page
"""
# A row looks for rows that have one of its rarest bundles. A row with none of these does not contain it: all of the
# other bundles together have fewer than `needed` shingles.
CREATE_SEEKERS = """
CREATE TABLE seekers AS
SELECT bundle, page, needed, row_number() OVER (PARTITION BY page ORDER BY bundle) AS turn FROM (
    SELECT bundle, page, shingle_count - floor((1 - {threshold!r}) * shingle_count + 1e-9)::BIGINT AS needed,
        sum(shingles) OVER (PARTITION BY page ORDER BY rows DESC, bundle ROWS UNBOUNDED PRECEDING) AS up_to_this
    FROM bundles JOIN (SELECT bundle, count(*) AS rows FROM bundles GROUP BY bundle) USING (bundle)
        JOIN pages ON number = page
    WHERE NOT earlier_set
) WHERE up_to_this >= needed
"""
CREATE_HOLDERS = """
CREATE TABLE holders AS
SELECT bundle, page, shingle_count AS size FROM bundles SEMI JOIN seekers USING (bundle) JOIN pages ON number = page
"""
# The rows kept so far that have an unfinished bundle: one whose kept rows were not all compared.
KEPT_HOLDERS = "holders SEMI JOIN unfinished USING (bundle) ANTI JOIN followers USING (page)"
KEPT_SEEKERS = "seekers SEMI JOIN unfinished USING (bundle) ANTI JOIN followers USING (page)"
CREATE_CROWDS = f"""
CREATE OR REPLACE TABLE crowds AS
SELECT bundle FROM {KEPT_HOLDERS} GROUP BY bundle HAVING count(*) > {{limit}}
"""
# In a crowd, a row is compared with the first rows, which are kept if rows are in each other, and with the largest.
CREATE_CANDIDATES = f"""
CREATE OR REPLACE TABLE candidates AS
SELECT DISTINCT (least(seeking.page, partners.page)::BIGINT << 32) | greatest(seeking.page, partners.page) AS pair
FROM (SELECT * FROM {KEPT_SEEKERS} WHERE turn <= {{bundles}}) seeking JOIN (
    SELECT bundle, page, size FROM {KEPT_HOLDERS} ANTI JOIN crowds USING (bundle)
    UNION ALL
    SELECT bundle, page, size FROM {KEPT_HOLDERS} SEMI JOIN crowds USING (bundle)
    QUALIFY row_number() OVER (PARTITION BY bundle ORDER BY page) <= {{limit}} // 2
        OR row_number() OVER (PARTITION BY bundle ORDER BY size DESC, page) <= {{limit}} // 2
) partners USING (bundle)
WHERE seeking.page <> partners.page AND size >= needed
"""
# If the row that another was dropped for is dropped itself, the other may be kept again. It was not compared meanwhile.
CREATE_UNFINISHED = """
CREATE OR REPLACE TABLE unfinished AS
SELECT bundle FROM crowds
UNION SELECT bundle FROM holders SEMI JOIN old_followers USING (page) ANTI JOIN followers USING (page)
"""
COUNT_PAIRS = f"""
SELECT coalesce(sum(seeking * least(rows, {{limit}})), 0)
FROM (SELECT bundle, count(*) AS seeking FROM {KEPT_SEEKERS} GROUP BY bundle)
    JOIN (SELECT bundle, count(*) AS rows FROM {KEPT_HOLDERS} GROUP BY bundle) USING (bundle)
"""


class Containments(Edges):
    """Creates the tables `pages`, `contained` and `followers`: pairs of rows of which one is in the other, and for each
    dropped row the kept row that it was dropped for.

    A bundle is all shingles that exactly the same rows have. A row is compared with every row that has one of its
    rarest bundles, enough of them that every row containing it has at least one. If a crowd of rows has a bundle, only
    some of them are compared at first. That drops most of them. Further rounds compare the remaining rows, until every
    necessary pair of kept rows has been compared.
    """

    unfinished = 0  # kept rows that were not compared with all others that might contain them

    def make_edges(self, *, use_state: bool = False) -> None:
        """Create the tables `contained` and `followers`."""
        assert not use_state
        con, threshold = self._con, self._options.threshold
        for batch in con.batches("SELECT number, shingle_count::UINTEGER FROM pages"):
            numbers, counts = (to_numbers(column, "I") for column in batch.columns)
            put_rows(memoryview(self._shingle_counts).cast("B"), numbers, counts.cast("B"), 4)
        con.feed(CREATE_BUNDLES, POSTINGS, self._bundles())
        con.run(CREATE_SEEKERS.format(threshold=threshold))
        con.run(CREATE_HOLDERS)
        con.run("DROP TABLE bundles")
        con.run("CREATE TABLE unfinished AS SELECT DISTINCT bundle FROM seekers")
        con.feed("CREATE TABLE contained AS SELECT * FROM input_rows", CONTAINED, [])
        con.feed("CREATE TABLE followers AS SELECT * FROM input_rows", FOLLOWERS, [])
        with closing(SetFile(self._folder / "shingles", self.pages)) as sets:
            self._store_holders(sets)
            self._run_rounds(sets)

    def _run_rounds(self, sets: SetFile) -> None:
        """Compare rows in rounds, the first by a few bundles of each row, until every kept row is finished."""
        con, limit = self._con, self._options.compared
        self._run_round(sets, limit, FIRST_BUNDLES)
        while True:
            self._run_round(sets, limit)
            con.run(CREATE_UNFINISHED)
            (self.unfinished,) = con.row(f"SELECT count(DISTINCT page) FROM {KEPT_SEEKERS}")
            limit *= GROWTH
            if not self.unfinished or limit > MAX_LIMIT:
                return
            (pairs,) = con.row(COUNT_PAIRS.format(limit=limit))
            if pairs > max(PAIRS_PER_ROW * self.pages, MIN_PAIRS):
                return

    def _run_round(self, sets: SetFile, limit: int, bundles: int = MAX_BUNDLES) -> None:
        """Compare the rows kept so far, and choose the kept rows again."""
        con = self._con
        con.run(CREATE_CROWDS.format(limit=limit))
        con.run(CREATE_CANDIDATES.format(limit=limit, bundles=bundles))
        statement = "INSERT INTO contained SELECT * FROM input_rows ANTI JOIN contained USING (pair)"
        con.feed(statement, CONTAINED, self._contained(sets))
        con.run("CREATE OR REPLACE TABLE old_followers AS SELECT page FROM followers")
        self._choose_containers()

    def _bundles(self) -> Iterator[pa.RecordBatch]:
        """Yield the postings of bundles."""
        with closing(PostingFiles(self._folder / "postings", self.pages)) as postings:
            for row, batch in self._scan.columns("shingles"):
                self._progress("reading shingles", row, self.pages)
                pages, is_first = self._row_numbers(row, len(batch))
                shingles = batch.column(0).filter(is_first)
                owners = pages.filter(is_first).take(pc.list_parent_indices(shingles))
                postings.add(to_numbers(shingles.flatten(), "Q"), to_numbers(owners, "I"))

            def bundle_part(part: int) -> pa.RecordBatch:
                bundles, pages = bundle_postings(*postings.sorted(part))
                return pa.record_batch([to_column(bundles), to_column(pages)], schema=POSTINGS)

            for part, batch in enumerate(map_ahead(bundle_part, range(postings.parts), self._threads)):
                self._progress("counting shingles", part, postings.parts)
                yield batch

    def _store_holders(self, sets: SetFile) -> None:
        """Store the shingles of all rows that may be compared."""
        wanted = array("B", bytes(self.pages))
        for batch in self._con.batches("SELECT DISTINCT page FROM holders"):
            for page in to_numbers(batch.column(0), "I"):
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

    def _contained(self, sets: SetFile) -> Iterator[pa.RecordBatch]:
        """Compare the pairs of a round, and yield the pairs of which one row is in the other."""
        counts = to_column(self._shingle_counts)

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
            return compared.filter(pc.greater_equal(pc.max_element_wise(*shares), self._options.threshold))

        total, *_ = self._con.row("SELECT count(*) FROM candidates")
        done = 0
        ordered = self._con.batches("SELECT pair FROM candidates ORDER BY pair")
        for batch in map_ahead(compare, ordered, self._threads):
            self._progress("comparing texts", done, total)
            done += len(batch)
            yield batch
            sets.release_memory()

    def _choose_containers(self) -> None:
        """Create the table `followers` from the table `contained`."""
        con, threshold = self._con, self._options.threshold
        (always_kept,) = con.row("SELECT count(*) FROM pages WHERE earlier_set")
        containers = Containers(self._shingle_counts, always_kept)
        mutual = f"earlier_share >= {threshold!r} AND later_share >= {threshold!r} AS mutual"
        contained = (
            f"SELECT {EARLIER}::UINTEGER AS container, {LATER}::UINTEGER AS row, {mutual} FROM contained"
            f" WHERE later_share >= {threshold!r} UNION ALL"
            f" SELECT {LATER}::UINTEGER, {EARLIER}::UINTEGER, {mutual} FROM contained"
            f" WHERE earlier_share >= {threshold!r} ORDER BY container, row"
        )
        for batch in con.batches(contained):
            for outer, inner, is_mutual in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                containers.add(outer, inner, mutual=is_mutual)
        kept = to_column(containers.kept_containers())
        followers = pa.record_batch([pa.array(range(self.pages), pa.uint32()), kept], schema=FOLLOWERS)
        statement = "CREATE OR REPLACE TABLE followers AS SELECT * FROM input_rows WHERE page <> representative"
        con.feed(statement, FOLLOWERS, [followers])
