"""What a person should know although the work went on."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know although the work went on: a sentence with {names}, and their values."""

    message: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The English sentence."""
        return self.message.format(**self.values) if self.values else self.message
