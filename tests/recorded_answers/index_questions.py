"""Questions to an index of the two crawls, in order: the last ones change the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, TypeVar

from opensearch_winnow import Filters, Index, Page, WinnowError
from tests.recorded_answers import result_values as values
from tests.recorded_answers.question import Question, question, slow_question
from tests.recorded_answers.two_crawls import CRAWLS, FIRST, SECOND, crawls, licences, plain_text

T = TypeVar("T")
SEED = 41
BETWEEN = datetime(2023, 1, 1, tzinfo=UTC)


SIMILAR: tuple[dict[str, Any], ...] = (
    {},
    {"min_resemblance": 0.3},
    {"min_resemblance": 0.9, "exact": False},
    {"min_containment": 0},
    {"min_containment": 0, "exact": False},
    {"min_containment": 0, "limit": 3},
    {"min_containment": 0, "frequent": 5},
    {"min_containment": 0, "guarantee": 400},
    {"min_containment": 0.3},
    {"min_contained": 0.5},
    {"min_resemblance": 0.1, "min_containment": 0.2, "all_captures": True},
    {"min_resemblance": 0.2, "where": Filters(crawl=FIRST)},
    {"min_containment": 0, "where": Filters(site="spdx.example", since=BETWEEN)},
)
TEXTS: tuple[dict[str, Any], ...] = (
    *({}, {"min_containment": 0}, {"min_containment": 0, "exact": False}, {"min_resemblance": 0.05, "limit": 5}),
)
BATCHES: tuple[dict[str, Any], ...] = ({"min_containment": 0.0}, {"min_resemblance": 0.2, "exact": False, "limit": 2})
PAIRS: tuple[dict[str, Any], ...] = ({}, {"min_containment": 0.9}, {"min_longest": 300, "limit": 10})
SHORT = (
    *("the", "without warranty of any kind"),
    "Permission is hereby granted, free of charge, to any person obtaining a copy",
    *("模板引擎", "リポジトリ", ""),
)
WORDS = (
    *("license", "warranty -gnu", '"without warranty of any kind"', "index reader field", "the", "don't"),
    *("lucen* OR licen* -mit", "create OR return value", "模板", "获取 配置", "リポジトリ", '"を取得する"'),
    *("soft* mil*", "zzyzx"),
)
SEARCHES: tuple[dict[str, Any], ...] = (
    {},
    {"any_word": True, "limit": 3, "page": 2},
    {"where": Filters(crawl=FIRST), "facets": ("site", "crawl", "month", "year"), "limit": 2},
    {"all_captures": True, "where": Filters(since=BETWEEN), "limit": 4},
)
GROUPED_WORDS = ("license", "index reader", "lucen* OR licen* -mit", "the", "模板 OR 配置", "を OR リポジトリ")
PAGED_WORDS = ("index reader", "模板 OR 配置")
GROUPED: tuple[dict[str, Any], ...] = (
    {},
    {"min_resemblance": 0.2, "limit": 4},
    {"min_resemblance": 0.9, "exact": True},
    {"by": "cluster", "limit": 5},
    {"by": "both", "limit": 5, "page": 2},
    {"examine": 12, "limit": 5, "page": 2},
    {"representative": "earliest", "all_captures": True, "limit": 5},
    {"representative": "longest", "exact": True, "examine": 1000, "limit": 50},
    {"representative": "site:mirror.example", "facets": ("site", "year"), "examine": 1000, "limit": 5},
)
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"change": ("split", "merged"), "min_containment": 0.3},
    {"site": "spdx.example"},
    {"min_containment": 0.8},
    {"change": ("moved",)},
    {"change": ("not_seen", "new"), "limit": 3},
    {"near_revisits": True, "min_resemblance": 0.9},
    {"boilerplate": False, "change": ("changed",)},
)


def fill(index: Index) -> Iterator[Question]:
    """Add both crawls to an index, with watches before the second, cluster it, and yield what was reported."""
    for crawl, pages in crawls().items():
        report = index.add(pages, crawl=crawl)
        yield question("index", partial(_reported, values.report(report)), {"crawl": crawl})
        if crawl == FIRST:
            index.add_watch("text", text=plain_text(licences()[42]), min_containment=0.05)
            index.add_watch("page", url=pages[0].url, min_containment=0.3)
    yield question("clusters", partial(_reported, values.clustering(index.cluster())), {"of": "all"})


def _reported(answer: Any, _: Index) -> Any:
    return answer


def questions() -> Iterator[Question]:
    """Yield all questions."""
    made = crawls()
    yield from _similar(made)
    yield from _searches()
    yield from _clusters()
    yield from _stored_pages(made)
    yield from _changes_and_pairs()
    yield from _boilerplate(made)
    yield from _watches()
    yield from _deletions(made)


# --- similar ----------------------------------------------------------------------------------------------------------


def _similar(made: dict[str, list[Page]]) -> Iterator[Question]:
    """Yield questions about pages, texts and HTML."""
    for number, url in enumerate(_chosen(made, 13)):
        for options in SIMILAR[number % 2 :: 2]:
            yield question("similar", similar, url=url, **options)
    texts = [plain_text(page) for page in made[FIRST][-60::12]] + [plain_text(page) for page in made[SECOND][3:40:9]]
    for number, text in enumerate(texts):
        start = Random(number).randrange(max(len(text) - 1_500, 1))
        for options in TEXTS:
            yield question("similar text", similar, text=text[start : start + 1_500], **options)
    for text in SHORT:
        yield question("similar text", similar, text=text)
    for page in made[SECOND][5:60:11]:
        yield question("similar html", similar, html=page.html, min_containment=0.1)
    batch: list[Any] = [*texts[:4], {"url": made[FIRST][0].url}, {"url": "https://no.example/"}, "", {"text": texts[5]}]
    for options in BATCHES:
        yield question("similar batch", partial(_similar_batch, batch=batch), **options)


def shown(method: Callable[..., T], show: Callable[[T], Any]) -> Callable[..., Any]:
    """Return a function that asks an index by one of its methods and shows the answer."""
    return lambda index, **options: show(method(index, **options))


similar = shown(Index.similar, values.matches)


def _similar_batch(index: Index, batch: list[Any], **options: Any) -> Any:
    return {
        f"{number}": {"error": type(answer).__name__} if isinstance(answer, WinnowError) else values.matches(answer)
        for number, (_, answer) in enumerate(index.similar_batch(batch, **options))
    }


# --- search and clusters ----------------------------------------------------------------------------------------------


def _searches() -> Iterator[Question]:
    for number, words in enumerate(WORDS):
        for options in (SEARCHES[0], SEARCHES[1 + number % 3]):
            yield question("search", search, words=words, **options)
    yield question("search pages", search_pages, words="license", limit=7)
    for words in GROUPED_WORDS:
        for options in GROUPED:
            yield question("grouped search", search, words=words, group=True, **options)
        for by in ("signature", "cluster", "both"):
            ask = question if words in PAGED_WORDS else slow_question
            yield ask("grouped search pages", search_pages, words=words, group=True, by=by, examine=7, limit=4)


search = shown(Index.search, values.search_results)


def search_pages(index: Index, **options: Any) -> Any:
    """Return all pages of the results."""
    pages = [index.search(stable=True, **options)]
    while cursor := pages[-1].cursor:
        pages.append(index.search(cursor=cursor))
    return [values.outline(page) for page in pages]


def _clusters() -> Iterator[Question]:
    for listed in ({"min_pages": 2}, {"min_pages": 4}, {"site": "spdx.example"}, {"limit": 5, "offset": 5}):
        yield question("clusters", cluster_list, **listed)
    yield question("cluster members", cluster_members, limit=10)
    yield question("clusters", clustering, linkage="components", threshold=0.3)
    for options in ({"threshold": 0.8}, {"fast": True}, {"representative": "newest"}):
        yield slow_question("clusters", clustering, **options)


def cluster_list(index: Index, **listed: Any) -> Any:
    return [[index.capture(each.cluster).url, each.pages, each.sites, each.urls] for each in index.clusters(**listed)]


def cluster_members(index: Index, limit: int) -> Any:
    return {
        index.capture(each.cluster).url: [values.capture(card) for card in index.cluster_pages(each.cluster)]
        for each in index.clusters(limit=limit)
    }


clustering = partial(shown(Index.cluster, values.clustering), write_back=False)


# --- pages of the index -----------------------------------------------------------------------------------------------


def _stored_pages(made: dict[str, list[Page]]) -> Iterator[Question]:
    """Yield questions about pages that the index has: compare, history, versions and locate."""
    urls = _chosen(made, 14)
    earlier, later = (list(dict.fromkeys(page.url for page in made[crawl])) for crawl in CRAWLS)
    both = [url for url in earlier if url in set(later)]
    gone = [url for url in earlier if url not in set(later)]
    mirror = [url for url in later if "mirror." in url]
    notes = [url for url in later if "notes." in url]
    compared = [(url, url.replace("mirror.", "lucene.")) for url in mirror[:6]]
    for a, b in [*compared, *pairwise(urls), *pairwise(notes[:6])]:
        yield question("compare", _compared, a=a, b=b)
    for url in Random(SEED).sample(both, 8):
        yield question("compare captures", _compared_captures, url=url)
    for url in [*Random(SEED + 1).sample(both, 5), urls[0], "https://no.example/"]:
        yield question("history", shown(Index.history, values.history), url=url)
    versions = shown(Index.versions, values.versions)
    for number, url in enumerate([*both[::30], *mirror[:3], *notes[:1], *urls[:3]]):
        yield question("versions", versions, url=url, min_resemblance=(0.5, 0.2, 0.9)[number % 3])
    yield question("versions", versions, text=plain_text(made[FIRST][-20]))
    for url in [*Random(SEED).sample(gone, 16), *both[:3]]:
        yield question("locate", shown(Index.locate, values.located), url=url, at=BETWEEN, limit=10)


def _compared(index: Index, a: str, b: str) -> Any:
    return values.comparison(index.compare(a, b))


def _compared_captures(index: Index, url: str) -> Any:
    before, after = index.page(url, at=BETWEEN), index.page(url)
    return values.comparison(index.compare(before, after, boilerplate=False))


# --- the whole index --------------------------------------------------------------------------------------------------


def _changes_and_pairs() -> Iterator[Question]:
    for number, options in enumerate(CHANGES):
        ask = question if number < 3 else slow_question
        yield ask("changes", changes, before=FIRST, after=SECOND, **options)
    later = datetime(2025, 1, 1, tzinfo=UTC)
    yield slow_question("changes", changes, before=BETWEEN, after=later, site="lucene.example")
    for options in PAIRS:
        yield slow_question("pairs of the index", shown(Index.pairs, values.pairs), **options)
    yield question("statistics", shown(Index.statistics, values.statistics), {"of": "all"})


changes = shown(Index.changes, values.changes)


def _boilerplate(made: dict[str, list[Page]]) -> Iterator[Question]:
    """Yield questions to an index that has learned the templates of its sites; later ones come without them."""
    yield question("boilerplate", _learn, {"what": "learned"})
    for url in _chosen(made, 5):
        for options in ({}, {"min_containment": 0}, {"boilerplate": False}):
            yield question("similar without boilerplate", similar, url=url, **options)
    mirror = [page.url for page in made[SECOND] if "mirror." in page.url]
    for a, b in pairwise(mirror[:5]):
        yield question("compare without boilerplate", _compared, a=a, b=b)
    yield slow_question("changes without boilerplate", changes, before=FIRST, after=SECOND, limit=5)
    yield question("grouped search without boilerplate", search, words="license", group=True, exact=True)
    yield question("boilerplate", _remove, {"what": "removed"})


def _learn(index: Index) -> Any:
    return [[each.name, each.site, each.text] for each in index.learn_boilerplate()]


def _remove(index: Index) -> Any:
    names = [each.name for each in index.boilerplate()]
    for name in names:
        index.remove_boilerplate(name)
    return names


def _watches() -> Iterator[Question]:
    yield question("watches", lambda index: values.findings(index.watch_log(limit=None)), {"what": "log"})
    for name in ("text", "page"):
        yield question("watches", _checked, name=name)


def _checked(index: Index, name: str) -> Any:
    report = index.check_watch(name)
    assert report.found is not None
    return values.matches(report.found) | {"new": sorted(index.capture(id_).url for id_ in report.new)}


def _deletions(made: dict[str, list[Page]]) -> Iterator[Question]:
    """Yield deletions, and what is found afterwards."""
    chosen: tuple[dict[str, Any], ...] = ({"urls": made[SECOND][0].url}, {"urls": "https://hutool.example/*"})
    for options in (*chosen, {"words": "mozilla"}):
        for dry_run in (True, False):
            yield question("delete", _delete, **options, dry_run=dry_run)
    yield question("clusters after deletions", cluster_list, min_pages=2)
    yield question("similar after deletions", similar, url=made[SECOND][1].url)


def _delete(index: Index, **options: Any) -> Any:
    return values.deletion(index.delete(**options, erase=False))


def _chosen(made: dict[str, list[Page]], number: int) -> list[str]:
    """Return the addresses of `number` pages of the index, one of each site in turn."""
    shuffled = sorted({page.url for pages in made.values() for page in pages})
    Random(SEED).shuffle(shuffled)
    turns = Counter[str]()
    places = {}
    for url in shuffled:
        site = url.split("/")[2]
        places[url] = turns[site]
        turns[site] += 1
    return sorted(shuffled, key=places.__getitem__)[:number]
