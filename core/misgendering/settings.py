"""What runs of misgendering are asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evenhand.core.misgendering.instances import PASSES, instances
from evenhand.core.misgendering.slots import SETTINGS, Instance, Setting
from evenhand.core.misgendering.template_files import Prompt, Source, built_in, read_people, read_source
from evenhand.core.models import Precision
from evenhand.core.text.pronouns import parse_sets

BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class Drawn:
    """What models are asked about: the instances of a source, or the prompts of TANGO."""

    source: Source
    instances: tuple[Instance, ...]

    @property
    def questions(self) -> tuple[Instance | Prompt, ...]:
        """The prompts, or else the instances."""
        return tuple(self.source.prompts) or self.instances


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The options that say how templates are filled, the same for every command."""

    templates: str = BUILT_IN
    limit: int | None = None
    seed: int = 0
    passes: int = PASSES
    pronouns: tuple[str, ...] = ()
    names: Path | None = None

    def drawn(self, *, competing: bool = True) -> Drawn:
        """Return the source and its instances.

        Sets that a published data set does not have are added to its contexts, but do not compete in its slots
        (*competing*): which forms do is a part of that measure.
        """
        source = built_in() if self.templates == BUILT_IN else read_source(self.templates)
        if source.prompts:
            return Drawn(source, ())
        only = parse_sets(self.pronouns)
        found = instances(
            source, passes=self.passes, seed=self.seed, also=only if source.dataset == "own" or not competing else (),
            only=only, people=read_people(self.names) if self.names else None, limit=self.limit,
        )  # fmt: skip
        return Drawn(source, tuple(found))

    @property
    def source_name(self) -> str:
        """The name of the templates in a record: never a path."""
        return self.templates if self.templates == BUILT_IN else Path(self.templates).name

    @property
    def facts(self) -> dict[str, Any]:
        """How instances are drawn, for the record."""
        names = ("passes", "seed", "limit", "pronouns")
        return {name: getattr(self, name) for name in names} | {"names": self.names.name if self.names else None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings(Drawing):
    """The options of `misgendering score`. `generations`: a file of what models wrote; None: only by probability."""

    models: tuple[str, ...]
    out: Path | None = None
    run_name: str | None = None
    generations: Path | None = None
    precision: Precision = "fp32"
    threads: int | None = None
    no_cache: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Drawing):
    """The options of `misgendering run`: every model writes `each` texts of `new_tokens` tokens after every context.

    `trim`: contexts without the space at their end (published: with it).
    """

    models: tuple[str, ...]
    run_name: str
    each: int = 5
    setting: Literal["pre", "post", "both"] = "pre"
    new_tokens: int = 50
    trim: bool = False
    threads: int | None = None

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The ends of contexts that models continue."""
        return SETTINGS if self.setting == "both" else (self.setting,)
