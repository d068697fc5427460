"""Reads client options from environment variables."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import warn_if_open_to_others
from opensearch_winnow.stores.opensearch.requests.error_reasons import shorten
from opensearch_winnow.stores.store import StoreError

FALSE_VALUES = ("", "0", "false", "no", "off")
FILE_OPTIONS = {"WINNOW_CA_CERTS": "ca_certs", "WINNOW_CLIENT_CERT": "client_cert", "WINNOW_CLIENT_KEY": "client_key"}
AWS_SERVICE = "es"  # managed engines; serverless collections are aoss


def environment_options(environment: Mapping[str, str], *, credentials: bool = True) -> dict[str, Any]:
    """Return opensearch-py options from the variables that are set, on request without those for `credentials`."""
    options: dict[str, Any] = {}
    for variable, option in FILE_OPTIONS.items():
        if path := environment.get(variable):
            if not Path(path).exists():
                raise StoreError(f"there is no file {path}, which {variable} names")
            options[option] = path
    private = options.get("client_key", options.get("client_cert"))  # the key may be in the file of its certificate
    if private is not None:
        warn_if_open_to_others(private, "private key")
    if _is_true(environment, "WINNOW_INSECURE"):
        options |= {"verify_certs": False, "ssl_show_warn": False}  # the user chose it: a warning would be noise
    if _is_true(environment, "WINNOW_COMPRESS"):
        options["http_compress"] = True
    if seconds := environment.get("WINNOW_TIMEOUT"):
        options["timeout"] = _seconds(seconds)
    return options | _credentials(environment) if credentials else options


def _credentials(environment: Mapping[str, str]) -> dict[str, Any]:
    present = [name for name in ("WINNOW_USER", "WINNOW_API_KEY", "WINNOW_AWS_REGION") if environment.get(name)]
    if len(present) > 1:
        raise StoreError(f"{' and '.join(present)} are set, but only one kind of credentials is used: unset the others")
    if user := environment.get("WINNOW_USER"):
        return {"http_auth": (user, environment.get("WINNOW_PASSWORD", ""))}
    if key := environment.get("WINNOW_API_KEY"):
        # Elasticsearch gives out API keys as id:key or encoded, and accepts only the encoded form.
        encoded = base64.b64encode(key.encode()).decode() if ":" in key else key
        return {"headers": {"authorization": f"ApiKey {encoded}"}}
    if region := environment.get("WINNOW_AWS_REGION"):
        return {"http_auth": _signer(region, environment.get("WINNOW_AWS_SERVICE") or AWS_SERVICE)}
    return {}


def _signer(region: str, service: str) -> Any:
    """Return an object that signs requests with the credentials that AWS tools use."""
    from opensearchpy import Urllib3AWSV4SignerAuth  # noqa: PLC0415

    with extra("aws"):
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415
        from botocore.session import Session  # noqa: PLC0415
    try:
        found, reason = Session().get_credentials(), ""
    except BotoCoreError as error:
        found, reason = None, f" ({shorten(str(error))})"
    if not found:
        raise StoreError(
            f"WINNOW_AWS_REGION is set, but there are no AWS credentials{reason}: set AWS_ACCESS_KEY_ID and"
            " AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        )
    return Urllib3AWSV4SignerAuth(found, region, service)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise StoreError(f"WINNOW_TIMEOUT is {text}, but must be a number of seconds")
    return seconds


def _is_true(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() not in FALSE_VALUES
