"""The settings of a run of scoring, and the inputs that can be scored."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from evenhand.core.errors import N_, BadFile
from evenhand.core.processes import processors
from evenhand.core.scoring.cache import cache_path
from evenhand.core.scoring.rows import ScoreItem


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the command `score`.

    `file`: a file, or a project as project:NAME, whose public id is `uid`. `words`: a table of the user's own words.
    `ray`: address of a cluster ("local" starts one here); `workers`: how many of its processors, which several models
    share. The options of a model are those of `core.models.open_scorer`.
    """

    file: str
    models: tuple[str, ...]
    out: Path | None = None
    run_name: str | None = None
    language: str | None = None
    words: Path | None = None
    column: str | None = None
    precision: str = "fp32"
    joint: str = "independent"
    method: str = "auto"
    threads: int | None = None
    ray: str | None = None
    workers: int | None = None
    cache: Path | None = None
    no_cache: bool = False
    items: Literal["all", "accepted"] = "all"
    uid: str | None = None

    @property
    def processors(self) -> int:
        """The number of processors of the cluster that the models share."""
        return self.workers or processors()

    @property
    def at_once(self) -> int:
        """The number of models that are asked at the same time."""
        return 1 if self.ray is None else min(len(self.models), self.processors)

    def model_options(self) -> dict[str, Any]:
        """Return what `open_scorer` is given; defaults are left out."""
        given = {"joint": self.joint, "method": self.method, "precision": self.precision, "threads": self.threads}
        return {key: value for key, value in given.items() if value != DEFAULTS.get(key)}

    def cache_beside(self, database: Path) -> Path | None:
        """Return the file of remembered scores; None remembers nothing beyond the run.

        Raises BadFile for the database itself: opening it as a cache would drop the locks of this process on it.
        """
        cache = None if self.no_cache else self.cache or cache_path(database)
        if cache is not None and cache.resolve() == database.resolve():
            message = N_("{file} is the label database. Use another file for the score cache.")
            raise BadFile(message, file=str(database))
        return cache


DEFAULTS = {"joint": "independent", "method": "auto", "precision": "fp32", "threads": None}
RECORDED = (
    "models", "precision", "joint", "method", "threads", "ray", "workers", "cache", "language", "words", "column",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScoreInput:
    """Something whose sentences can be scored: `items()` reads them again each time.

    `name` is what reports call the input, `format` slguset, candidates, sentences or project, `rows` how many it
    has, `digest` the SHA-256 of the file's bytes, or of the project's sentences and the places of their words.
    """

    kind: Literal["file", "project", "built-in"]
    name: str
    format: str
    rows: int
    digest: str
    items: Callable[[], Iterator[ScoreItem]]
    json_names: ClassVar = {"digest": "sha256", "items": None}
