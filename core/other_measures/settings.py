"""What a run of a measure from the literature is asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.other_measures.measures import BY_NAME, Measure

UNKNOWN = N_("{measure} is no measure here; choose one of {known}.")
NO_VARIANT = N_("{measure} has no variant {variant}; it has: {known}.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the command `other-measures`.

    `file` None: the set that ships with the app. `tests`: X,Y,A,B, or names of TESTS. `bias`: only pairs of this
    bias_type. `language`: of the set of LPBS and of the frames of SEAT, "" to find out.
    """

    measure: str
    models: tuple[str, ...]
    variant: str = ""
    file: Path | None = None
    bias: str | None = None
    tests: tuple[str, ...] = ()
    language: str = ""
    layer: int = -1
    pooling: Literal["first", "mean", "last"] | None = None
    no_untrained: bool = False
    device: str = "auto"
    out: Path | None = None
    run_name: str | None = None

    @property
    def what(self) -> Measure:
        """The measure. Raises Refused for an unknown one."""
        if self.measure not in BY_NAME:
            raise Refused(UNKNOWN, measure=self.measure, known=", ".join(BY_NAME))
        return BY_NAME[self.measure]

    @property
    def of_variant(self) -> str:
        """The variant: the published one where none is named. Raises Refused."""
        what = self.what
        if self.variant and self.variant not in what.variants:
            raise Refused(NO_VARIANT, measure=what.title, variant=self.variant, known=", ".join(what.variants) or "—")
        return self.variant or (what.variants[0] if what.variants else "")
