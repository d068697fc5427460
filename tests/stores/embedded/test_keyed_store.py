"""A store in a file opens with the key that it was created with, however the key is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import StoreError


def test_a_key_has_to_be_said(tmp_path: Path) -> None:
    path, scheme = tmp_path / "keyed.winnow", Scheme(key="secret")
    EmbeddedStore.open(path, key="secret", create=True).close()
    for wanted in (None, Scheme()):
        with pytest.raises(StoreError, match=r"has a secret key: name the file that holds it with --key-file or WINN"):
            EmbeddedStore.open(path, wanted)
    for wanted, key in ((None, "wrong"), (Scheme(), "wrong"), (Scheme(key="wrong"), None), (scheme, "wrong")):
        with pytest.raises(StoreError, match=r"wrong key for scheme \S+$") as caught:
            EmbeddedStore.open(path, wanted, key=key)
        assert Scheme(key="wrong").id not in str(caught.value)
    for opened in (EmbeddedStore.open(path, scheme), EmbeddedStore.open(path, Scheme(), key="secret")):
        assert opened.scheme == scheme
        opened.close()
