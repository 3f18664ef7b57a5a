"""The former addresses of pages, which go on answering."""

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from evenhand.web.requests import folder

# Former address of a page -> its address, the word of its capability.
OLD_ADDRESSES = {
    "adjudicate": "adjudication",
    "check": "published",
    "generate": "generation",
    "inference": "nli",
    "mine": "mining",
    "models": "model-bias",
    "professions": "association",
    "score": "scoring",
    "statistics": "describe",
    "try": "sentence-bias",
}


def redirect(request: Request) -> RedirectResponse:
    """Return the address of today; the query is kept."""
    old = request.url.path.rstrip("/").rpartition("/")[2]
    return RedirectResponse(f"{folder(request)}/{OLD_ADDRESSES[old]}?{request.url.query}".rstrip("?"))


def routes() -> list[Route]:
    """Return a redirect for each former address."""
    return [Route(f"/{old}{slash}", redirect) for old in OLD_ADDRESSES for slash in ("", "/")]
