"""The measures that ask a model: what each asks, what is known against it, which set it needs, its variants; and what a
run of one is asked for.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.core.errors import N_, Refused

Name = Literal["crows", "aul", "stereoset", "seat", "weat", "lpbs", "pro-anti"]
Scale = Literal["percent", "effect", "ln"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A published measure by other authors.

    `variants`: by name, the published one first. `file`: the set that the user uploads, "" for none; `built_in`: the
    set that ships with the app instead, "" for none. `against`: known limitations, with their source.
    """

    name: Name
    title: str
    asks: str
    against: str
    source: str
    scale: Scale
    variants: tuple[str, ...] = ()
    file: str = ""
    built_in: str = ""
    causal: bool = True


MEASURES: tuple[Measure, ...] = (
    Measure(
        "seat", "SEAT",
        N_("Are two sets of target words associated with different attribute sets? WEAT on sentence vectors."),
        N_(
            "Its authors find it suspiciously sensitive to wording and warn that it can show the"
            " presence of bias, not its absence (May et al. 2019). The value depends on layer and"
            " pooling."
        ),
        "May et al. 2019", "effect", ("sentences", "words"), "words", "WEAT",
    ),
    Measure(
        "weat", "WEAT",
        N_("Are two sets of target words associated with different attribute sets? WEAT on the"
           " model's input embeddings."),
        N_(
            "The effect size overestimates association where sets are small and word frequencies"
            " differ (Ethayarajh et al. 2019). It does not predict bias in applications"
            " (Goldfarb-Tarrant et al. 2021)."
        ),
        "Caliskan et al. 2017", "effect", (), "words", "WEAT",
    ),
    Measure(
        "crows", "CrowS-Pairs",
        N_("Of two sentences that differ in the group they mention, does the model prefer the more"
           " stereotypical one?"),
        N_(
            "Many pairs are flawed: they mix stereotypes with spelling, names or nonsense (Blodgett"
            " et al. 2021). Untrained models also deviate from 50 (Pikuliak et al. 2023)."
        ),
        "Nangia et al. 2020", "percent", ("published", "changed", "mean"), "crows", causal=False,
    ),
    Measure(
        "aul", "AUL",
        N_("As CrowS-Pairs, but the mean over all tokens without masking."),
        N_(
            "It inherits the flawed pairs of CrowS-Pairs (Blodgett et al. 2021). An unmasked token"
            " is nearly always predicted from itself, so compare the size of the differences with"
            " the control."
        ),
        "Kaneko and Bollegala 2022", "percent", (), "crows", causal=False,
    ),
    Measure(
        "stereoset", "StereoSet",
        N_("Does the model prefer the stereotype to the anti-stereotype (ss), and either of them to"
           " an unrelated word (lms)?"),
        N_(
            "Many items contain no stereotype, and icat rewards a model at chance: random choices"
            " also give an ss of 50 (Blodgett et al. 2021)."
        ),
        "Nadeem et al. 2021", "percent", (), "stereoset",
    ),
    Measure(
        "lpbs", "LPBS",
        N_(
            "Does a profession raise the female person word more than the male one? The difference"
            " of associations, female minus male."
        ),
        N_(
            "The value depends on a few templates and changes when they are reworded (Delobelle et al. 2022)."
        ),
        "Kurita et al. 2019", "ln", (), "", "BEC-Pro", causal=False,
    ),
    Measure(
        "pro-anti", N_("Pro/anti gap"),
        N_(
            "Are pronouns resolved more accurately where they match the stereotype of an occupation?"
            " Language models are prompted."
        ),
        N_(
            "Small models barely exceed chance on either set, and then a gap is noise. The test"
            " prompts a language model; it does not run a coreference system. Some sentence pairs"
            " differ in more than the pronoun (counted in the run)."
        ),
        "Zhao et al. 2018; Brown et al. 2020", "percent", ("type 1", "type 2"), "twins", "WinoBias",
    ),
)  # fmt: skip
BY_NAME: dict[str, Measure] = {measure.name: measure for measure in MEASURES}


UNKNOWN = N_("{measure} is not a known measure; choose one of {known}.")
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
