"""What a check of `doctor` found."""

from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: a sentence with {names}, their values, and the state."""

    name: str
    state: State
    message: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The English sentence."""
        return self.message.format(**self.values) if self.values else self.message
