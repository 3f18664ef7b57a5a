"""What can be scored: its name, its format, and its sentences, read anew each time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.core.scoring.rows import ScoreItem


@dataclass(frozen=True, slots=True)
class ScoreInput:
    """Something whose sentences can be scored: `items()` reads them anew each time.

    `name` is what reports call it, `format` slguset, candidates, sentences or project, `rows` how many it
    has, `digest` the SHA-256 of the file's bytes, or of the project's sentences and the places of their words.
    """

    kind: Literal["file", "project", "built-in"]
    name: str
    format: str
    rows: int
    digest: str
    items: Callable[[], Iterator[ScoreItem]]

    def facts(self) -> dict[str, Any]:
        """What a record says about it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "format": self.format,
            "rows": self.rows,
            "sha256": self.digest,
        }
