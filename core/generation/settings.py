"""What a run of generating is asked for."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.generation.contexts import CHUNK, SEED
from evenhand.core.generation.inputs import Filling
from evenhand.core.generation.server import INSTRUCTION, Way
from evenhand.core.misgendering.slots import SETTINGS, Setting
from evenhand.core.models import Precision
from evenhand.core.models.sampling import DECAY, Sampling

SAMPLED = ("each", "seed", "top_k", "top_p", "temperature", "tokens", "stop")
OF_DEBIAS, OF_MODEL, OF_SERVER = (
    ("debias", "decay"),
    ("precision", "chunk"),
    ("server", "way", "instruction", "standard"),
)
RECORDED = ("model", *SAMPLED, *OF_DEBIAS, *OF_MODEL, *OF_SERVER, "at_once", "per_minute", "with_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of the command `generate`.

    `server`: the address of an OpenAI-compatible server; None: the model is loaded here. `at_once`, `per_minute`: how
    hard the server is asked, which changes no text. `passes` to `column`: how templates are filled, see `Filling`.
    """

    contexts: str
    model: str
    out: Path | None = None
    run_name: str | None = None
    each: int = 1
    seed: int = SEED
    top_k: int = 50
    top_p: float = 0.95
    temperature: float | None = None
    tokens: int = 50
    stop: bool = False
    debias: str = ""
    decay: float = DECAY
    precision: Precision = "fp32"
    threads: int | None = None
    chunk: int = CHUNK
    server: str | None = None
    chat: bool = False
    instruction: str = INSTRUCTION
    standard: bool = False
    at_once: int = 8
    per_minute: float | None = None
    no_key: bool = False
    passes: int = 1
    settings: tuple[Setting, ...] = ()
    only: tuple[str, ...] = ()
    limit: int | None = None
    trim: bool = False
    column: str | None = None

    @property
    def way(self) -> Way:
        """How a server is asked."""
        return "chat" if self.chat else "completions"

    @property
    def with_key(self) -> bool:
        """Whether the key of the environment is sent to the server."""
        return not self.no_key

    @property
    def filling(self) -> Filling:
        """How templates are filled."""
        return Filling(self.passes, self.seed, self.settings or SETTINGS, self.only, self.limit, self.column, self.trim)

    @property
    def sampling(self) -> Sampling:
        """How tokens are drawn."""
        return Sampling(
            self.top_k, self.top_p, self.temperature, self.tokens, self.stop, debias=self.debias, decay=self.decay
        )

    @property
    def lasting(self) -> dict[str, Any]:
        """What two halves of a run must have in common."""
        debias = OF_DEBIAS if self.debias else ()  # runs of earlier versions know neither
        return self.named((*SAMPLED, *debias, *(OF_MODEL if self.server is None else OF_SERVER)))

    def named(self, names: Collection[str] = RECORDED) -> dict[str, Any]:
        """Return the values of these names, by default of all that a record holds."""
        return {name: getattr(self, name) for name in names}
