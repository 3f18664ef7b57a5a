"""What a run that gives rows a score says of them, whatever the score is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.core.errors import LINE_REASONS, N_, Notice
from evenhand.core.language import Count


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """Rows of a run: how many have a score, of how many it was in the cache, and why the others have none.

    `reasons`: of every reason, a sentence or a code of LINE_REASONS, the most rows that one model lacks.
    """

    rows: int
    scored: int
    undefined: int
    remembered: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def notices(self) -> Sequence[Notice]:
        """These numbers as sentences."""
        values = {name: Count(getattr(self, name)) for name in ("rows", "scored", "undefined", "remembered")}
        text = N_("{rows} {rows:row|rows}: {scored} scored, {undefined} without a score; {remembered} from cache.")
        if not self.reasons:
            return (Notice(text, values),)
        reasons = [
            Notice(N_("{text} ({more})"), {"text": Notice(LINE_REASONS.get(reason, reason)), "more": f"{rows:,}"})
            for reason, rows in self.reasons.items()
        ]
        return Notice(text, values), Notice(N_("Without a score: {reasons}."), {"reasons": reasons})
