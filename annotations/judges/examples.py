"""Examples of a judge's prompt drawn from known answers, balanced by choice.

The items that are drawn stand in the prompt, so they say nothing of how well the judge knows them: its labels of them
are left out of every comparison with people and of every rate.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import Spec
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import N_, Refused
from evenhand.core.judges.prompts import LETTERS, Way

_KNOWN = """
SELECT item.uid, coalesce(item.context, ''), item.text, coalesce(item.second, ''), item.known
FROM published_item AS item
WHERE item.project = ? AND item.known IS NOT NULL ORDER BY item.uid
"""
NONE = N_("No item of {project} has a known answer among the choices of this guideline, so no examples can be drawn.")
NO_PLACE = N_("Examples need the placeholder {place} in the prompt.")


@dataclass(frozen=True, slots=True)
class KnownExamples:
    """Examples as they stand in a prompt. `items`: public ids of those drawn."""

    text: str
    items: tuple[str, ...]
    seed: int

    def noted(self, spec: Spec) -> Spec:
        """*spec* with the items and the draw in its settings and its signature."""
        settings = spec.settings | {"example_items": list(self.items), "example_seed": self.seed}
        return replace(spec, settings=settings, signature=f"{spec.signature}|known:{len(self.items)},seed{self.seed}")


def known_examples(
    store: Store, project: Project, version: Guideline, number: int, seed: int, way: Way, template: str
) -> KnownExamples:
    """Draw *number* items with known answers, of each choice as many as there are of the others, as far as they go.

    The same items for the same seed and known answers. Raises Refused where none can be drawn, or where the prompt has
    no place for them.
    """
    if "{examples}" not in template:
        raise Refused(NO_PLACE, place="{examples}")
    codes = [one.code for one in version.choices]
    drawn = random.Random(seed)  # noqa: S311 - a sample, nothing secret
    by_choice: dict[str, list[tuple[str, str, str, str]]] = {code: [] for code in codes}
    for uid, context, text, second, known in store.db.execute(_KNOWN, (project.id,)):
        if known in by_choice:
            by_choice[known].append((uid, context, text, second))
    turns = [(code, drawn.sample(items, len(items))) for code, items in by_choice.items()]
    most = max((len(items) for _code, items in turns), default=0)
    order = [(code, items[turn]) for turn in range(most) for code, items in turns if turn < len(items)]
    chosen = order[:number]
    if not chosen:
        raise Refused(NONE, project=project.name)
    text = "\n\n".join(
        _written(code, context, text, second, way, codes) for code, (_uid, context, text, second) in chosen
    )
    return KnownExamples(text, tuple(uid for _code, (uid, *_) in chosen), seed)


def _written(code: str, context: str, text: str, second: str, way: Way, codes: Sequence[str]) -> str:
    """An example; of a comparison its texts stand as the item has them, and so does the choice."""
    if way == "letter":
        both = f"{context}\n\nThe first text: {text}\n\nThe second text: {second}" if second else f"{context}{text}"
        return f"{both}\nAnswer: {LETTERS[codes.index(code)]}"
    before = f"<context>{context}</context>\n" if context else ""
    shown = f"<first>{text}</first>\n<second>{second}</second>" if second else f"<text>{text}</text>"
    return f'An example:\n{before}{shown}\nIts choice: "{code}"'
