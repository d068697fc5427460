"""Simulates a question to a collection of any size, from a sample of real pages and a law for what it cannot show.

Each page of a sample of n stands for N / n pages of a collection of N, and shares with a question what the page of the
sample shares with it. So the pages with a token grow in proportion to N. Of a token that no other page of the sample
has, the sample only says that its share of all pages is below about 1 / n. There are two cases:

- low: no other page ever has it;
- high: its share p follows the power law p**(a - 1), as far as the sample allows: a gamma distribution with shape a and
  rate n. Tokens of one passage have the same share.

Nothing of the size of the collection is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from benchmarks.scale_samples import Sample, SampledQuestion
from opensearch_winnow.queries.asking.frequency_check import CHECKED_FIELDS, FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Field, Lookup

# The shape a of the law: the share of a page's tokens that are on no other page falls as n**-a. On 885 sites it is .99.
# Broder and others (1997) put 12.3 of 30 million pages into clusters, which leaves .59: so a is
# ln(.99 / .59) / ln(30e6 / 885).
SHAPE = 0.05
NO_CHECK = 2**63


class Answer(NamedTuple):
    """What a question meets in a collection."""

    candidates: int
    postings: int  # of the tokens that are looked up
    holders: int  # pages that have any token of a field; at most this many have a single token
    ignored: int  # tokens
    tokens: int  # in the fields that the frequency check covers


class Collection(NamedTuple):
    """A collection of `size` pages like those of the sample."""

    sample: Sample
    size: int
    shape: float  # of the law for tokens that the sample has once; 0: no other page has them
    max_pages: int = NO_CHECK  # of the frequency check

    def answer(self, question: SampledQuestion, random: Random) -> Answer:
        """Simulate the lookups of a question: the frequency check, then the pages that share enough."""
        growth = (self.size - 1) / max(len(self.sample) - 1, 1)
        blocks = [self._blocks(*each, random) for each in zip(question.lookups, question.holders, strict=True)]
        frequencies = [
            {token: 1 + round(len(who) * growth) for token, who in holders.items()} for holders in question.holders
        ]
        for some, each in zip(frequencies, blocks, strict=True):
            some.update((token, 1 + pages) for pages, tokens in each for token in tokens)
        looked_up = self._trimmed(question.lookups, frequencies)
        found: set[int] = set()
        unseen = 0
        for lookup, holders, each in zip(looked_up, question.holders, blocks, strict=True):
            shared = Counter(page for token in lookup.tokens for page in holders[token])
            found |= {page for page, count in shared.items() if count >= lookup.minimum}
            kept = set(lookup.tokens)
            unseen += sum(pages for pages, tokens in each if len(kept.intersection(tokens)) >= lookup.minimum)
        if question.plausible is not None:
            found &= question.plausible
        tokens, left = (
            sum(len(lookup.tokens) for lookup in some if lookup.field in CHECKED_FIELDS)
            for some in (question.lookups, looked_up)
        )
        postings = sum(
            some[token] for lookup, some in zip(looked_up, frequencies, strict=True) for token in lookup.tokens
        )
        with_any = [
            round(len({page for who in holders.values() for page in who}) * growth) + sum(pages for pages, _ in each)
            for lookup, holders, each in zip(question.lookups, question.holders, blocks, strict=True)
            if lookup.field in CHECKED_FIELDS
        ]
        candidates = min(round(len(found) * growth) + unseen, self.size)
        return Answer(candidates, postings, max(with_any, default=0), tokens - left, tokens)

    def _trimmed(self, lookups: Sequence[Lookup], frequencies: Sequence[Mapping[int, int]]) -> list[Lookup]:
        """Apply the frequency check of the software."""
        known = {lookup.field: some for lookup, some in zip(lookups, frequencies, strict=True)}

        def count_pages(checked: Sequence[Lookup]) -> list[dict[int, int]]:
            return [
                {token: pages for token in each.tokens if (pages := known[each.field][token]) > self.max_pages}
                for each in checked
            ]

        return FrequencyCheck(self.max_pages).trimmed(lookups, count_pages)

    def _blocks(
        self, lookup: Lookup, holders: Mapping[int, list[int]], random: Random
    ) -> list[tuple[int, Sequence[int]]]:
        """Return passages of tokens that no other page of the sample has, and on how many other pages each is."""
        if not self.shape or lookup.field not in CHECKED_FIELDS:
            return []
        rate = 1 / len(self.sample)
        return [
            (round(random.gammavariate(self.shape, rate) * (self.size - 1)), tokens)
            for tokens in self._passages(lookup.field, lookup.tokens, holders, random)
        ]

    def _passages(
        self, field: Field, tokens: Sequence[int], holders: Mapping[int, list[int]], random: Random
    ) -> Iterator[list[int]]:
        """Cut unseen tokens into passages as long as those that pages of the sample share."""
        lengths = self.sample.run_lengths[field]
        unseen = [token for token in tokens if not holders[token]]
        if field == "sketch":  # sorted by hash: the tokens of a passage are not side by side
            random.shuffle(unseen)
        start = 0
        while start < len(unseen):
            length = random.choice(lengths)
            yield unseen[start : start + length]
            start += length
