"""The hub's client: one endpoint, the token of the environment or of `hf auth login`, every failure as a sentence.

The endpoint is HF_ENDPOINT and nothing that a visitor types. The token is read by the client at each request; it is
neither stored nor logged here.
"""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.core.errors import N_, BadFile, EvenhandError, NotAllowed, NotFound, Refused

if TYPE_CHECKING:
    from huggingface_hub import HfApi

log = logging.getLogger(__name__)
DEFAULT_ENDPOINT = "https://huggingface.co"
REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
LONGEST_ANSWER = 300  # characters of what the hub says that a message quotes
NO_REPO = N_(
    "There is no data set {repo} at {endpoint}, or it is private. Check the name; for a private data set, set HF_TOKEN."
)


def endpoint() -> str:
    """Return the address of the hub: HF_ENDPOINT, else https://huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")


def endpoint_name() -> str:
    """Return the address of the hub without its scheme, for use in a sentence.

    With the scheme a page would make it a link that includes the full stop after it.
    """
    return endpoint().partition("://")[2]


def has_token() -> bool:
    """Tell whether HF_TOKEN is set or a user has signed in on this machine with `hf auth login`."""
    from huggingface_hub import get_token

    return get_token() is not None


def hub() -> "HfApi":
    """Return the client."""
    from huggingface_hub import HfApi

    return HfApi(endpoint=endpoint(), library_name="evenhand")


def checked_repo(repo: str) -> str:
    """Return the name of a repository, OWNER/NAME, without blanks around it. Raises BadFile for anything else."""
    name = repo.strip()
    if not REPO.fullmatch(name) or ".." in name or "--" in name:
        message = N_("{repo} is not a data set name on the Hub: use OWNER/NAME with letters, digits and - _ .")
        raise BadFile(message, repo=name[:100])
    return name


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turn every failure of the client inside into one sentence."""
    from huggingface_hub import errors

    at = endpoint()
    try:
        yield
    except EvenhandError:
        raise
    except errors.OfflineModeIsEnabled:
        raise Refused(
            N_("HF_HUB_OFFLINE is set, so the Hub is not contacted. Start the app without this setting.")
        ) from None
    except errors.GatedRepoError:
        message = N_("{repo} is gated. Accept its terms at {endpoint} and set HF_TOKEN.")
        raise NotAllowed(message, repo=repo, endpoint=at) from None
    except errors.RevisionNotFoundError:
        raise NotFound(N_("{repo} has no such revision: give a branch, a tag or a commit."), repo=repo) from None
    except errors.RepositoryNotFoundError:
        raise NotFound(NO_REPO, repo=repo, endpoint=at) from None
    except errors.HfHubHTTPError as error:
        raise _refusal(error, repo, at) from None
    except Exception as error:  # no name service, a proxy's refusal, offline: the client raises many kinds
        log.info("hub at %s: %s", at, type(error).__name__)
        message = N_("The Hub at {endpoint} did not respond ({kind}). Check the connection and HF_ENDPOINT.")
        raise Refused(message, endpoint=at, kind=type(error).__name__) from None


def _refusal(error: "Exception", repo: str, at: str) -> EvenhandError:
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", 0)
    if status in (401, 403):
        message = N_(
            "The Hub at {endpoint} does not allow this token to read or write {repo}. Set HF_TOKEN to a"
            " token with permission, or sign in with `hf auth login`."
        )
        return NotAllowed(message, repo=repo, endpoint=at)
    text = str(getattr(error, "server_message", None) or "")[:LONGEST_ANSWER]
    message = N_("The Hub at {endpoint} refused {repo} ({status}): {said}")
    return Refused(message, endpoint=at, repo=repo, status=status, said=text or "—")
