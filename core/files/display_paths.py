"""Sources of texts without folders of the server and names of its users."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

# Columns that name the file or the place of a text, in files of others and in what `mine` writes.
NAMING = frozenset(
    ("source", "file", "filename", "file_name", "path", "filepath", "file_path", "来源", "出处", "文件", "文件名")
)
# What holds columns inside: `mine` writes an object, with those of its table; an export, those with one of its names.
INSIDE = ("source", "columns", "extra")
# Absolute: /a, ~a, C:\a, \\server\a, file:///a. A web address is none.
ABSOLUTE = re.compile(r"(?:file:/+|~[\w.-]*[\\/]|[A-Za-z]:[\\/]|\\\\|/)")
HOME = re.compile(r"(?:home|users|documents and settings)", re.IGNORECASE)
PARENTS_SHOWN = 2
DEPTH = 3  # of objects in objects: extra, source, columns


@lru_cache(maxsize=10_000)
def short_path(text: str) -> str:
    """Return the last two parts of an absolute path, without a user's home; other text unchanged.

    "/srv/texts/2018/a.txt" -> "2018/a.txt"; of a file that lies in a home its name alone; "Evening news" stays.
    A short path stays unchanged: "/srv/~vera/a.txt" -> "a.txt", since "~vera/a.txt" would lose a part the next time.
    """
    while (shorter := _last_parts(text)) != text:
        text = shorter
    return text


def _last_parts(text: str) -> str:
    start = ABSOLUTE.match(text)
    if start is None or "\n" in text:
        return text
    parts = [part for part in re.split(r"[\\/]+", text[start.end() :]) if part]
    home = next((at for at, part in enumerate(parts[:-1]) if HOME.fullmatch(part)), None)
    if home is not None:
        parts = parts[home + 2 :] or parts[-1:]
    return "/".join(parts[-PARENTS_SHOWN:]) or text


class Places:
    """Short paths of one file, import or report, in which different places keep different names.

    "/srv/news/2018/a.txt" is "2018/a.txt", and "/srv/blogs/2018/a.txt" in the same file "2018/a.txt (2)". Numbers go
    by the order in which the places come, so that the same file read again gives the same names.
    """

    def __init__(self) -> None:
        self._name: dict[str, str] = {}
        self._taken: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Return `short_path`, with a number where another path already has that name."""
        if text in self._name:
            return self._name[text]
        name = short = short_path(text)
        number = 1
        while short != text and self._taken.get(name, text) != text:
            number += 1
            name = f"{short} ({number})"
        self._taken.setdefault(name, text)
        self._name[text] = name
        return name


def without_folders(
    extra: Mapping[str, Any], depth: int = DEPTH, *, shortened: Callable[[str], str] = short_path
) -> dict[str, Any]:
    """Return the columns that came with an item, with every absolute path that names a file shortened.

    `shortened`: `Places` where what comes from different places is to be told apart.
    """
    return {key: _short(key, value, depth, shortened) for key, value in extra.items()}


def _short(key: str, value: Any, depth: int, shortened: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return shortened(value) if key.lower() in NAMING else value
    if isinstance(value, dict) and key in INSIDE and depth:
        return without_folders(value, depth - 1, shortened=shortened)
    return value


def origin(values: dict[str, Any]) -> str:
    """Return the document of a row: its name, else its file, else ""."""
    given = values.get("source")
    if isinstance(given, dict):
        given = given.get("name") or given.get("file")
    return str(given) if isinstance(given, str | int) else ""
