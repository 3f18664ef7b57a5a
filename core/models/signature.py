"""What all scorers of a loaded model share: how their numbers are signed, and that only numbers go out."""

import math
from collections.abc import Sequence

from evenhand.core.errors import N_
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.types import Score, Signature

NOT_A_NUMBER = N_("The model returned a value that is not a number.")


class Signed:
    """A loaded model with a method. Subclasses set `method`, `version` and `joining`.

    `version` is raised when an answer changes by more than rounding.
    """

    method: str
    version: int
    joining: str
    loaded: LoadedModel

    @property
    def signature(self) -> str:
        """The signature of each score, as text."""
        return str(self._parts())

    @property
    def cache_key(self) -> str:
        """The signature with the full SHA-256 of the weights."""
        return self._parts().with_weights(self.loaded.weights)

    def _parts(self) -> Signature:
        loaded = self.loaded
        return Signature(self.method, loaded.name, loaded.weights, self.joining, loaded.precision, self.version)

    def _signed(self, logprobs: Sequence[float | None], reason: str | None) -> Score:
        """A score; undefined as a whole where the model answered something that is no number."""
        if any(p is not None and not math.isfinite(p) for p in logprobs):
            return Score((None,) * len(logprobs), self.signature, NOT_A_NUMBER)
        return Score(tuple(logprobs), self.signature, reason)
