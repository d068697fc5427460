"""The boilerplate of a store, which is kept in it."""

from __future__ import annotations

from opensearch_winnow.operations.learned_templates import learned_templates
from opensearch_winnow.queries.boilerplate import Boilerplate, BoilerplateError, Exclusions
from opensearch_winnow.stores.store import Store

SETTING = "boilerplate"


class RegisteredBoilerplate:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._hashed: tuple[list[Boilerplate], Exclusions] | None = None

    def read(self) -> list[Boilerplate]:
        return [Boilerplate.from_document(each) for each in self._store.setting(SETTING) or []]

    def add(self, added: Boilerplate) -> None:
        if not Exclusions([added], self._store.scheme):
            raise BoilerplateError(
                f"the text of boilerplate {added.name} has no words, so there is nothing to leave out"
            )
        self._keep([*(each for each in self.read() if each.name != added.name), added])

    def remove(self, name: str) -> None:
        registered = self.read()
        kept = [each for each in registered if each.name != name]
        if len(kept) == len(registered):
            there = f"there is {', '.join(each.name for each in kept)}" if kept else "there is none"
            raise BoilerplateError(f"{self._store.name} has no boilerplate {name}; {there}")
        self._keep(kept)

    def learn(self, site: str | None, *, share: float, pages: int) -> list[Boilerplate]:
        learned = learned_templates(self._store, site, share=share, pages=pages)
        kept = [each for each in self.read() if not each.learned or (site is not None and each.site != site)]
        names = {each.name for each in learned}
        self._keep([*(each for each in kept if each.name not in names), *learned])
        return learned

    def exclusions(self) -> Exclusions:
        """Hashed once, and again when the boilerplate has changed."""
        boilerplate = self.read()
        if self._hashed is None or self._hashed[0] != boilerplate:
            self._hashed = boilerplate, Exclusions(boilerplate, self._store.scheme)
        return self._hashed[1]

    def _keep(self, boilerplate: list[Boilerplate]) -> None:
        documents = [each.as_document() for each in sorted(boilerplate, key=lambda each: each.name)]
        self._store.set_setting(SETTING, documents)
