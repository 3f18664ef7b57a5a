"""Settings of a run of tuning."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.models.tuning.settings import Tuning
from evenhand.core.runs.records import runs_folder
from evenhand.core.swap.word_tables import Words, WordTable, read_word_pairs, word_table
from evenhand.core.tune.report import tuned_folder
from evenhand.core.tune.texts import Swap

Method = Literal["training", "sentence-debias", "inlp"]
NO_TARGET = N_("Give an output for the model: --out FOLDER or --run NAME.")
NO_LANGUAGE = N_("Swapping and removing a direction need the language of the texts: --language zh or en.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Tuning):
    """The options of the command `tune`: the numbers of training, the model, its texts, and the change to it.

    `own`, `names`: files of further words to swap. `leave_out`: pairs that are not swapped. `share`: of the texts, held
    out. `address`: of a Ray cluster that trains, with so many `threads`. `uid`: of the project that texts name.
    """

    model: str
    texts: str
    out: Path | None = None
    run_name: str | None = None
    method: Method = "training"
    swap: Swap = "none"
    language: Literal["zh", "en"] | None = None
    pairs: Words = "released"
    own: Path | None = None
    names: Path | None = None
    leave_out: tuple[str, ...] = ()
    adapters: bool = False
    share: float = 0.05
    device: str = "auto"
    address: str | None = None
    threads: int | None = None
    force: bool = False
    uid: str | None = None

    @property
    def tuning(self) -> Tuning:
        """The numbers of training."""
        return Tuning(**{field.name: getattr(self, field.name) for field in fields(Tuning)})

    def folder(self, database: Path) -> Path:
        """Return where the model goes. Raises Refused where that is not said, or taken."""
        if (self.out is None) == (self.run_name is None):
            raise Refused(NO_TARGET)
        return self.out if self.out is not None else tuned_folder(runs_folder(database, "tunes"), self.run_name or "")

    def words(self) -> WordTable | None:
        """Return the words that are swapped; None without a language. Raises Refused where one is needed."""
        if self.language is None:
            if self.swap != "none" or self.method != "training":
                raise Refused(NO_LANGUAGE)
            return None
        own, names = (read_word_pairs(path, self.language) if path else () for path in (self.own, self.names))
        return word_table(self.language, words=self.pairs, own=own, names=names).without(self.leave_out)
