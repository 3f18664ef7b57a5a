"""The settings of runs of inference: the options of `nli ask` and `nli rates`."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.core.errors import N_, Refused
from evenhand.core.nli.files import read_probes, read_words
from evenhand.core.nli.sets import ProbeSet, WordOrder, packaged
from evenhand.core.nli.types import Language
from evenhand.core.statistics.equivalence import MARGINS

BUILT_IN_RATE, USUAL_RATE = 1e-3, 2e-5  # learning rates: of the small built-in classifier; of the paper


def labels_in(text: str | None) -> tuple[str, ...] | None:
    """Return the labels of the outputs 0, 1 and 2 as --labels names them; None where it does not."""
    return None if text is None else tuple(part.strip() for part in text.split(","))


@dataclass(frozen=True, slots=True)
class AskSettings:
    """A classifier and the probes that it answers: packaged ones, a file of them, or words and templates."""

    model: str
    language: Language = "en"
    sample: bool = False
    as_released: bool = False
    probes: tuple[str, ...] = ()
    words: str | None = None
    templates: str | None = None
    gender_words: tuple[str, str] | None = None
    labels: str | None = None
    keep_labels: bool = False
    margin: float | None = MARGINS["share"]
    threads: int | None = None
    out: Path | None = None
    run_name: str | None = None

    def probe_set(self) -> ProbeSet:
        """Return the probes. Raises BadFile, and Refused where two kinds are given or a part is missing."""
        own = [self.words, self.templates, self.gender_words]
        if self.probes:
            if any(own):
                raise Refused(N_("Use either --probes, or --words with --templates and --gender-words, not both."))
            return read_probes(self.probes, self.language)
        if self.words and self.templates and self.gender_words:
            return read_words(self.words, self.templates, self.gender_words, self.language)
        if any(own):
            raise Refused(N_("A set from your own words needs --words, --templates and --gender-words."))
        return packaged(self.language, sample=self.sample, as_released=self.as_released)


@dataclass(frozen=True, slots=True)
class RateSettings:
    """A classifier that is trained at bias rates. `rates`: empty for those of the paper."""

    model: str = "demo-nli"
    language: Language = "en"
    rates: tuple[float, ...] = ()
    order: WordOrder = "female-first"
    epochs: int = 3
    learning_rate: float | None = None
    batch: int = 32
    seed: int = 0
    labels: str | None = None
    threads: int | None = None
    out: Path | None = None
    run_name: str | None = None

    @property
    def chosen_rate(self) -> float:
        """The learning rate: as asked, else the paper's, or a larger one for the built-in classifier."""
        if self.learning_rate is not None:
            return self.learning_rate
        return BUILT_IN_RATE if self.model.startswith("demo-") else USUAL_RATE
