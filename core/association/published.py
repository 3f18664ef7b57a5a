"""The printed Tables 4.5 to 4.8 of the thesis, to stand beside a user's own; never on one axis with them.

Means of models with different tokenizers do not compare, and the printed ones come from code that lets padding be
attended and cuts long sentences (SPEC 2.5): a correct run does not reproduce their decimals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.association.hypotheses import Verdict, published_verdicts
from evenhand.core.published.claims import agrees, half_unit
from evenhand.core.resources import table

TABLES = {"en": "EN", "es": "ES art", "es-noart": "ES no art", "eu": "EU"}


@dataclass(frozen=True, slots=True)
class Printed:
    """One class of one model as printed. `difference` is W - M; `m_minus_w` the same in this app's direction.

    `follows`: whether the printed difference follows from the printed means.
    """

    model: str
    kind: str
    woman: str
    man: str
    difference: str
    follows: bool

    @property
    def m_minus_w(self) -> float:
        """The printed difference with its sign turned."""
        return -float(self.difference)


def printed(language: str) -> list[Printed]:
    """The printed rows of a language's table: classes female, balanced, male for each model; empty for others."""
    name = TABLES.get(language)
    rows = [row for row in table("published_differences") if row["table"] == name]
    order = ("female", "balanced", "male")
    models = list(dict.fromkeys(row["model"] for row in rows))
    rows.sort(key=lambda row: (models.index(row["model"]), order.index(row["class"])))
    return [
        Printed(row["model"], row["class"], row["woman"], row["man"], row["difference"], _follows(row)) for row in rows
    ]


def _follows(row: dict[str, str]) -> bool:
    value, slack = float(row["woman"]) - float(row["man"]), 2 * half_unit("0.000")
    return agrees(row["difference"], value - slack, value + slack)


def printed_verdicts(language: str) -> dict[str, list[Verdict]]:
    """H1 and H2 of each printed model, in both readings."""
    rows = [row for row in table("published_differences") if row["table"] == TABLES.get(language)]
    models = dict.fromkeys(row["model"] for row in rows)
    return {model: published_verdicts([row for row in rows if row["model"] == model]) for model in models}


def is_multilingual(model: str) -> bool | None:
    """Whether a model of the papers is multilingual; None for one that the list does not know."""
    languages = [row["language"] for row in table("models") if row["name"] == model]
    if model.startswith("demo-"):
        return False
    return languages[0] == "mul" if languages else None


def compared_models(model: str, models: Sequence[str], monolingual: str | None = None) -> tuple[str, str] | None:
    """Return the monolingual and the multilingual model that H4 compares for *model*, one of them itself.

    The other one is the first of *models* of the other kind. *monolingual*: the one monolingual model, where the kinds
    are not those of the papers. None where a kind is unknown or there is no other model.
    """
    kinds = {name: is_multilingual(name) if monolingual is None else name != monolingual for name in models}
    if kinds[model] is None:
        return None
    other = next((name for name in models if kinds[name] is not None and kinds[name] != kinds[model]), None)
    if other is None:
        return None
    return (other, model) if kinds[model] else (model, other)
