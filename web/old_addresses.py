"""The former addresses of pages, which go on answering."""

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

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


def routes(base: str) -> list[Route]:
    """Return a redirect for each former address below *base*; the query is kept."""
    folder = f"/{base.strip('/')}".rstrip("/")

    def redirect(request: Request) -> RedirectResponse:
        old = request.url.path.rstrip("/").rpartition("/")[2]
        return RedirectResponse(f"{folder}/{OLD_ADDRESSES[old]}?{request.url.query}".rstrip("?"))

    return [Route(f"{folder}/{old}{slash}", redirect) for old in OLD_ADDRESSES for slash in ("", "/")]
