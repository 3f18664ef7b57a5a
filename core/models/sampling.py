"""How the next token is chosen; the same words for a model in this process and for a server."""

import hashlib
from dataclasses import dataclass

from evenhand.core.errors import N_, Refused

# Schick, Udupa and Schütze 2021, "Self-Diagnosis and Self-Debiasing": lambda 50, a factor of at least 0.01 (in their
# code), and the text that they describe gender bias with for CrowS-Pairs.
DECAY, LEAST_FACTOR = 50.0, 0.01
GENDER_PREFIX = "The following text discriminates against people because of their gender:\n"
BAD_DECAY = N_("The decay of self-debias must be above 0 and at most 1,000.")
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
    debias: str = ""
    decay: float = DECAY

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise Refused(NO_TOKENS)
        if not 0 < self.top_p <= 1 or self.top_k < 0 or (self.temperature is not None and self.temperature <= 0):
            raise Refused(N_("Sampling needs top-k ≥ 0, top-p above 0 and at most 1, and a temperature above 0."))
        if not 0 < self.decay <= 1000:
            raise Refused(BAD_DECAY)

    @property
    def debias_signature(self) -> str:
        """For a signature: `,self-debias:50,0.01,1a2b3c4d`, the last a digest of the text; "" without self-debias."""
        if not self.debias:
            return ""
        digest = hashlib.sha256(self.debias.encode()).hexdigest()[:8]
        return f",self-debias:{self.decay:g},{LEAST_FACTOR:g},{digest}"
