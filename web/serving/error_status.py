"""The HTTP status of each error, and the message that a visitor sees."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from opensearch_winnow.foundation.cancellation import CancelledError
from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.operations.asking.page_finder import PageNotFoundError
from opensearch_winnow.operations.asking.watches import WatchError
from opensearch_winnow.queries.upkeep.boilerplate import BoilerplateError
from opensearch_winnow.stores.store import StoreError
from opensearch_winnow.web.form import MAX_BODY_BYTES, FormError
from opensearch_winnow.web.parameters import ParameterError
from opensearch_winnow.web.screen import NotFoundError
from opensearch_winnow.web.server_threads import BusyError
from opensearch_winnow.web.serving.guard import too_large

STOPPING = "The server is stopping."


def capitalized(error: Exception, sentence: str) -> str:
    """Begin the sentence of the library with a capital, unless it begins with the name of a store or a URL."""
    of_library = isinstance(error, QuestionError | BoilerplateError | WatchError)
    begins_with_word = sentence.partition(" ")[0].isalpha()
    return sentence[0].upper() + sentence[1:] if of_library and begins_with_word else sentence


def status_and_message(error: Exception) -> tuple[int, str]:
    """Return the HTTP status for an error, and the message to show."""
    match error:
        case HTTPException():
            messages = {
                404: "There is no page at this address.",
                405: "This address does not support that method.",
                413: too_large(MAX_BODY_BYTES),
            }
            return error.status_code, messages.get(error.status_code, error.detail)
        case NotFoundError() | PageNotFoundError():
            return 404, str(error)
        case ParameterError() | QuestionError() | BoilerplateError() | FormError() | WatchError():
            return 400, str(error)
        case BusyError() | StoreError():
            return 503, str(error)
        case CancelledError():
            return 503, STOPPING
        case WinnowError():
            return 500, str(error)
    return 500, "This is a bug in winnow. The log of winnow serve has the details."
