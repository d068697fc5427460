"""Defines the methods of Index for what a store keeps beside its pages: boilerplate and watches."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cached_property

from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.operations.index_questions import QuestionMethods
from opensearch_winnow.operations.watch_log import WatchLog
from opensearch_winnow.operations.watches import Watch, Watches, WatchReport
from opensearch_winnow.queries.boilerplate import Boilerplate


class SettingsMethods(QuestionMethods):
    """Registers boilerplate, and saves questions as watches."""

    # --- boilerplate --------------------------------------------------------------------------------------------------

    def boilerplate(self) -> list[Boilerplate]:
        """Return the boilerplate that was added or learned, by name."""
        return self._boilerplate.read()

    def add_boilerplate(self, name: str, text: str, site: str | None = None) -> Boilerplate:
        """Register a text, such as a licence or a template, as boilerplate: it no longer counts as evidence of copying.

        With a `site`, it is boilerplate only between pages of that site. It replaces boilerplate of the same name.
        """
        added = Boilerplate(name, text, site)
        self._boilerplate.add(added)
        return added

    def remove_boilerplate(self, name: str) -> None:
        """Remove the boilerplate of this name: its text counts again."""
        self._boilerplate.remove(name)

    def learn_boilerplate(self, site: str | None = None, *, share: float = 0.5, pages: int = 10) -> list[Boilerplate]:
        """Learn the template of a `site`, or of every site, register it, and return what was learned.

        A template is the text on at least this `share` of the site's pages. A site needs at least `pages` pages, not
        counting near-duplicates. What was learned of these sites before is replaced. Pages without a site, such as
        files, are left out; `site=""` learns a template from them.
        """
        return self._boilerplate.learn(site, share=share, pages=pages)

    # --- watches ------------------------------------------------------------------------------------------------------

    def watches(self) -> list[Watch]:
        """Return the watches of the store, by name. A watch is a saved question."""
        return self._watches.read()

    def watch_names(self) -> list[str]:
        """Return the names of the watches, sorted."""
        return self._watches.names()

    def watch(self, name: str) -> Watch:
        """Return the watch of this name."""
        return self._watches.get(name)

    def add_watch(
        self,
        name: str,
        *,
        url: str | None = None,
        text: str | None = None,
        min_containment: float = 0.3,
        seen: bool = True,
        replace: bool = False,
    ) -> Watch:
        """Save a question as a watch: which pages contain at least `min_containment` of the page `url`, or of a `text`?

        `url` stands for its latest capture at the time of each check. Pages that match now are not reported as new
        later, unless `seen` is False. With `replace`, the watch may replace another of the same name.
        """
        watch = Watch(name=name, url=url, text=text, min_containment=min_containment)
        self._watches.add(watch, seen=seen, replace=replace)
        return watch

    def add_watches(self, watches: Iterable[Watch], *, seen: bool = True, replace: bool = False) -> int:
        """Save many watches, all or none, and return how many. The options are those of `add_watch`.

        With `seen=False`, nothing is looked up, and thousands of watches are added in seconds.
        """
        return self._watches.add_all(watches, seen=seen, replace=replace)

    def remove_watch(self, name: str) -> None:
        """Delete a watch."""
        self._watches.remove(name)

    def check_watch(self, name: str) -> WatchReport:
        """Ask the question of a watch again: `.matches` are the best 1,000, and `.new` the ids of those with a new URL.

        They stay new until you call `mark_seen`.
        """
        return self._watches.check(name)

    def mark_seen(self, name: str, ids: Collection[str]) -> None:
        """Mark captures as seen: they and later captures of their URLs are no longer new. The last 10,000 are kept."""
        self._watches.mark_seen(name, ids)

    def watch_log(
        self, name: str | None = None, *, since: datetime | None = None, limit: int | None = 100
    ) -> list[Finding]:
        """Return the pages that matched the watch `name`, or any, when they were indexed: the newest findings first.

        `since` is the time of a finding, and `limit` the number of them, None for all. The store keeps 10,000. The log
        does not mark anything as seen: `check_watch` lists the same pages as new.
        """
        return WatchLog(self.store).read(() if name is None else (name,), since=since, limit=limit)

    @cached_property
    def _watches(self) -> Watches:
        return Watches(self.store, self.similar)
