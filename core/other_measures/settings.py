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
        N_("Are sentences with two sets of words nearer to one of two sets of attributes? WEAT on sentence vectors."),
        N_(
            "Its own authors find it suspiciously sensitive to wording and warn that it can show bias, not its absence"
            " (May et al. 2019); layer and pooling decide the value."
        ),
        "May et al. 2019", "effect", ("sentences", "words"), "words", "WEAT",
    ),
    Measure(
        "weat", "WEAT",
        N_("Are two sets of words nearer to one of two sets of attributes? On the model's input embeddings."),
        N_(
            "The effect overestimates association where sets are small and word frequencies differ (Ethayarajh et al."
            " 2019); it says little of what a model does with the words (Goldfarb-Tarrant et al. 2021)."
        ),
        "Caliskan et al. 2017", "effect", (), "words", "WEAT",
    ),
    Measure(
        "crows", "CrowS-Pairs",
        N_("Of two sentences that differ in who they speak of, is the more stereotyping one likelier?"),
        N_(
            "Many pairs are flawed: they mix what is stereotyped with spelling, names or nonsense (Blodgett et al."
            " 2021); models without any training reach values off 50 (Pikuliak et al. 2023)."
        ),
        "Nangia et al. 2020", "percent", ("published", "changed", "mean"), "crows", causal=False,
    ),
    Measure(
        "aul", "AUL",
        N_("As CrowS-Pairs, but the mean over all tokens with nothing masked."),
        N_(
            "It inherits the flawed pairs of CrowS-Pairs (Blodgett et al. 2021), and a token that is not masked is"
            " nearly always predicted by itself: compare the size of the differences with the control."
        ),
        "Kaneko and Bollegala 2022", "percent", (), "crows", causal=False,
    ),
    Measure(
        "stereoset", "StereoSet",
        N_("Does the model prefer stereotype to anti-stereotype (ss), and either to an unrelated word (lms)?"),
        N_(
            "What is a stereotype in it often is none, and icat rewards a model at chance: coins give an ss of 50 too"
            " (Blodgett et al. 2021)."
        ),
        "Nadeem et al. 2021", "percent", (), "stereoset",
    ),
    Measure(
        "lpbs", "LPBS",
        N_(
            "Does a profession raise the female person word more than the male one? The association, female minus"
            " male."
        ),
        N_(
            "Few templates decide the value, and rewording them changes it (Delobelle et al. 2022)."
        ),
        "Kurita et al. 2019", "ln", (), "", "BEC-Pro", causal=False,
    ),
    Measure(
        "pro-anti", N_("Pro/anti gap"),
        N_(
            "Is a pronoun understood better where it follows the stereotype of an occupation? Asked of language"
            " models."
        ),
        N_(
            "Small models barely exceed a coin in either set, and then a gap is noise; the question is of a prompt, not"
            " of a coreference system, and some twins differ in more than the pronoun (counted in the run)."
        ),
        "Zhao et al. 2018; Brown et al. 2020", "percent", ("type 1", "type 2"), "twins", "WinoBias",
    ),
)  # fmt: skip
BY_NAME: dict[str, Measure] = {measure.name: measure for measure in MEASURES}


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
