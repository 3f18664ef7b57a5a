"""What an import is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.annotations.files.detect import FIXED, KEYS, Columns
from evenhand.annotations.files.other_tools.import_tasks import Names
from evenhand.annotations.types import Kind
from evenhand.core.errors import N_, BadFile


def pairs(given: Sequence[str], option: str, known: Sequence[str]) -> dict[str, str]:
    """Return the NAME=VALUE of an option as a dictionary. Raises BadFile for anything else."""
    found = [text.partition("=") for text in given]
    for key, sign, _value in found:
        if not sign or key.strip() not in known:
            message = N_("{option} takes NAME=VALUE, where NAME is one of {known}.")
            raise BadFile(message, option=option, known=", ".join(known))
    return {key.strip(): value.strip() for key, _sign, value in found}


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the command `import`.

    `name`: the project, which is created where it does not exist; with `uid` that project. `named`, `fixed`: columns
    and values of generations, as NAME=COLUMN and NAME=VALUE; of tasks, `named` says what choices are called here and
    `people` who annotators are. `known`: ground truth becomes known answers.
    """

    name: str
    file: Path
    layout: str = "auto"
    column: str | None = None
    named: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    known: bool = False
    fixed: tuple[str, ...] = ()
    uid: str | None = None

    def columns(self) -> Columns | None:
        """Return the columns of generations that are named; None where none is. Raises BadFile."""
        if not self.named and not self.fixed:
            return None
        return Columns(pairs(self.named, "--map", KEYS), pairs(self.fixed, "--set", FIXED))

    def columns_of_tasks(self, kind: Kind | None) -> Columns | None:
        """Return the columns of generations in tasks; None for sentences. Raises BadFile."""
        named = pairs([text for text in self.named if _names_column(text)], "--map", KEYS)
        fixed = pairs(self.fixed, "--set", FIXED)
        return Columns(named, fixed) if kind == "generations" or named or fixed else None

    def names(self) -> Names:
        """Return choices and annotators of tasks. Raises BadFile for a choice without a sign of equality."""
        choices = [text.rpartition("=") for text in self.named if not _names_column(text)]
        if any(not sign for _name, sign, _code in choices):
            message = N_("{option} takes NAME=VALUE: the choice in the file and its name in this project.")
            raise BadFile(message, option="--map")
        people = [text.rpartition("=") for text in self.people]
        return Names(
            {name.strip(): code.strip() for name, _sign, code in choices},
            {who.strip(): name.strip() for who, _sign, name in people},
        )


def _names_column(text: str) -> bool:
    return text.partition("=")[0].strip() in KEYS
