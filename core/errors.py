"""Every error that Evenhand raises on purpose.

    EvenhandError
    ├── BadFile          an invalid file; nothing was stored
    │   └── BadLine      one line of a file; the other lines still go in
    ├── ModelUnavailable a model that is unavailable or must not be used
    ├── WorkerDied       the inference process ended; it is started again
    ├── NotFound         a project, item, job or annotator that does not exist
    ├── NotAllowed       a person may not do this
    └── Refused          a request that breaks a rule of the store
        └── Busy         the database cannot be read or written now; the same request may succeed later

A message is a sentence with {names} and the values to put in, so that a page
can translate the sentence first. `str(error)` is the English sentence.
"""

import errno
from dataclasses import dataclass, field
from typing import Any, ClassVar

UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)  # what a disk refuses with


def N_(text: str) -> str:
    """Mark *text* for translation without translating it."""
    return text


NOT_KEPT = N_("A file could not be written ({why}). Nothing was saved; check the disk and its permissions.")


class EvenhandError(Exception):
    """The one class to catch."""

    def __init__(self, message: str, **values: Any) -> None:
        self.message = message
        self.values = values
        super().__init__(message.format(**values) if values else message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts for pickle, so that each class can pass between processes with its own arguments."""
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[EvenhandError], args: tuple[Any, ...], values: dict[str, Any]) -> EvenhandError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(values)
    return error


class BadFile(EvenhandError):
    """A file that could not be read as what it claims to be."""


# Why a line could not be used, in a few words, by its reason code.
LINE_REASONS = {
    "no_keyword": N_("no keyword"),
    "several_keywords": N_("several keywords"),
    "control_characters": N_("control characters"),
    "too_long": N_("too long"),
    "no_text": N_("no text"),
    "same_texts": N_("both texts the same"),
    "bad_span": N_("position cannot be repaired"),
    "columns": N_("wrong number of columns"),
    "pronouns": N_("pronouns not recognised"),
    "not_told_apart": N_("context and completion not separated"),
    "no_item": N_("item not in this project"),
    "label": N_("not a label of this project"),
    "unknown_choice": N_("choice not mapped"),
}


class BadLine(BadFile):
    """One line that could not be used: file, line, a reason code and a sentence."""

    def __init__(self, file: str, line: int, reason: str, message: str, **values: Any) -> None:
        super().__init__(message, **values)
        self.file, self.line, self.reason = file, line, reason

    def to_json(self) -> dict[str, str | int]:
        """Return where the line is, the reason and the English sentence."""
        return {"file": self.file, "line": self.line, "reason": self.reason, "message": str(self)}

    def at(self, file: str, line: int) -> "BadLine":
        """Return the same error for a line of a file: functions that check a value do not know where it is."""
        return BadLine(file, line, self.reason, self.message, **self.values)


class ModelUnavailable(EvenhandError):
    """A model that is unavailable or whose numbers would mean nothing."""


class WorkerDied(EvenhandError):
    """The inference process ended while it was asked."""


class NotFound(EvenhandError):
    """Something that was named does not exist."""


class NotAllowed(EvenhandError):
    """This person may not do this."""


class Refused(EvenhandError):
    """A request that breaks a rule of the store."""


class Busy(Refused):
    """The database is kept busy, its disk is full or cannot be written: nothing is wrong with the request."""


NOT_INSTALLED = N_(
    "The package {package} is not installed in this Python. `make app` installs what is needed into .venv;"
    " `. .venv/bin/activate` uses it in this shell."
)


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning after which the work continues: a sentence with {names}, and their values."""

    message: str
    values: dict[str, Any] = field(default_factory=dict)
    also_in_json: ClassVar = ("text",)

    @property
    def text(self) -> str:
        """The English sentence."""
        return self.message.format(**self.values) if self.values else self.message
