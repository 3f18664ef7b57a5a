"""How the next token is chosen; the same words for a model in this process and for a server."""

from dataclasses import dataclass

from core.errors import N_, Refused

NO_TOKENS = N_("At least one new token is needed.")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen.

    `top_k` 0 and `top_p` 1: no limit. `temperature` None: what the model's own settings say, else 1. `tokens`: how
    many new ones; `stop`: end a text at the model's end mark (else the mark is never chosen, as published).
    """

    top_k: int = 50
    top_p: float = 0.95
    temperature: float | None = None
    tokens: int = 50
    stop: bool = False

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise Refused(NO_TOKENS)
        if not 0 < self.top_p <= 1 or self.top_k < 0 or (self.temperature is not None and self.temperature <= 0):
            raise Refused(N_("Sampling needs top-k ≥ 0, top-p above 0 and at most 1, and a temperature above 0."))
