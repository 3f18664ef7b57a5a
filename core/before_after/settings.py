"""Settings of a comparison of before and after, and of a grid of changes."""

import re
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Literal, get_args

from evenhand.core.before_after.report import COST_MARGIN
from evenhand.core.errors import N_, Refused
from evenhand.core.models.tuning.settings import Tuning
from evenhand.core.statistics.equivalence import MARGINS
from evenhand.core.swap.word_tables import Words

Intervention = Literal["as-is", "none", "swap", "cda", "cds", "dropout", "sentence-debias", "inlp"]
INTERVENTIONS: tuple[Intervention, ...] = get_args(Intervention)
NO_SEED = ("as-is", "sentence-debias", "inlp")  # the same for every seed: done once
PLACEBO: Intervention = "none"
NO_AFTER = N_("Name the model before and at least one model after the change.")
UNEVEN = N_("{after} models after and {placebo} placebos: give one placebo for each seed, in the same order, or none.")
NOTHING = N_("A grid needs at least one model and one intervention.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the command `before-after`.

    `items`: a file, a project or the built-in sentences. `after`: one model, or the seeds of one change; `placebo`:
    none, or one for each of these. `text`: a file that no change has seen. `margin`: up to which size (log10) an effect
    counts as none, 0: not decided; `cost_margin`: up to which rise of the held-out loss (ln) counts as no cost.
    """

    items: str
    before: str
    after: tuple[str, ...]
    placebo: tuple[str, ...] = ()
    text: Path | None = None
    margin: float = MARGINS["log10"] or 0.0
    cost_margin: float = COST_MARGIN
    language: str | None = None
    out: Path | None = None
    run_name: str | None = None
    no_cache: bool = False
    uid: str | None = None

    def __post_init__(self) -> None:
        if not self.before or not self.after:
            raise Refused(NO_AFTER)
        if self.placebo and len(self.placebo) != len(self.after):
            raise Refused(UNEVEN, after=len(self.after), placebo=len(self.placebo))

    @property
    def models(self) -> tuple[str, ...]:
        """Every model, the one before first."""
        return (self.before, *self.after, *self.placebo)


@dataclass(frozen=True, slots=True)
class Cell:
    """One change to be made: a model, an intervention and a seed."""

    model: str
    intervention: Intervention
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        bare = re.sub(r"[^\w.+-]+", "_", self.model).strip("_.") or "model"
        return f"{bare[-60:]}.{self.intervention}.{self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GridSettings:
    """The options of the command `tune-grid`.

    `texts`: the file or folder to train on; `items`: the items to measure on, None for the built-in neutral sentences;
    `language`, `pairs`: of the swap; `share`: of the texts that no step sees. `ray`: the address of a cluster ("local"
    starts one here) with `workers` actors.
    """

    texts: Path
    models: tuple[str, ...]
    interventions: tuple[Intervention, ...] = ()
    seeds: int = 3
    run_name: str
    items: str | None = None
    language: Literal["zh", "en"] = "zh"
    pairs: Words = "released"
    leave_out: tuple[str, ...] = ()
    steps: int = 1000
    batch: int = 32
    length: int = 128
    rate: float = 5e-5
    every: int = 100
    share: float = 0.05
    threads: int | None = None
    ray: str | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        if not self.models or self.seeds < 1:
            raise Refused(NOTHING)

    @property
    def kinds(self) -> tuple[Intervention, ...]:
        """The interventions: of none that are named, the placebo and CDS."""
        return self.interventions or (PLACEBO, "cds")

    @property
    def tuning(self) -> Tuning:
        """The numbers of training; a grid trains every cell to the end."""
        names = {field.name for field in fields(self)} & {field.name for field in fields(Tuning)}
        return Tuning(**{name: getattr(self, name) for name in names}, patience=0)

    @property
    def cells(self) -> list[Cell]:
        """Model by model, seed by seed; what does not depend on a seed once."""
        every = product(self.models, range(self.seeds), self.kinds)
        return [Cell(model, kind, seed) for model, seed, kind in every if seed == 0 or kind not in NO_SEED]
