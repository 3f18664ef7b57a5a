"""Does a judge stay the same? What the server says has answered, and what the judge says when it is asked again."""

from dataclasses import dataclass
from typing import ClassVar

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import Answered, Judge, answers_by_model, changed_labels
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, wilson

NOT_AGAIN = Note(N_("It was not asked again."))


@dataclass(frozen=True, slots=True)
class Again:
    """One later round: how many of its items have the same label as at first, with Wilson's interval.

    `changed`: (label at first, label now) -> items. `models`: what the server said then, and now.
    """

    round: int
    items: int
    same: Estimate
    changed: dict[tuple[str, str], int]
    models: tuple[tuple[str, ...], tuple[str, ...]]
    json_names: ClassVar = {"changed": None, "models": None}


@dataclass(frozen=True, slots=True)
class Drift:
    """`answered`: by round and model; `rounds`: of each later round."""

    answered: tuple[Answered, ...]
    rounds: tuple[Again, ...]

    @property
    def has_changed_model(self) -> bool:
        """Whether the server named more than one model."""
        return len({one.model for one in self.answered}) > 1


def drift(store: Store, found: Judge) -> Drift:
    """How a judge has changed since it began."""
    answered = tuple(answers_by_model(store, found))
    pairs: dict[int, dict[tuple[str, str], int]] = {}
    for number, first, now, items in changed_labels(store, found):
        pairs.setdefault(number, {})[first, now] = items
    models = {number: tuple(one.model for one in answered if one.round == number) for number in (0, *pairs)}
    rounds = []
    for number, counts in sorted(pairs.items()):
        items = sum(counts.values())
        same = sum(times for (first, now), times in counts.items() if first == now)
        changed = {pair: times for pair, times in counts.items() if pair[0] != pair[1]}
        rounds.append(
            Again(number, items, wilson(same, items, nothing=NOT_AGAIN), changed, (models[0], models[number]))
        )
    return Drift(answered, tuple(rounds))
