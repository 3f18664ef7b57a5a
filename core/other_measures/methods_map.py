"""The map of methods: measures and mitigations by kind of model: formula, source, criticism, and where they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import parse_qsl

from evenhand.core.errors import N_
from evenhand.core.resources import table

FAMILIES = {
    "word vectors": N_("Word vectors"),
    "sentence encoders": N_("Sentence encoders"),
    "masked": N_("Masked language models"),
    "causal": N_("Causal language models"),
    "classifiers": N_("Classifiers"),
    "coreference": N_("Coreference"),
}
KINDS = {"measure": N_("Measure"), "mitigation": N_("Mitigation")}


@dataclass(frozen=True, slots=True)
class Method:
    """A cell of the map. `page` and `parameters` lead to where the app does it; without a page `why` says why not."""

    family: str
    kind: str
    name: Mapping[str, str]
    formula: Mapping[str, str]
    source: str
    against: Mapping[str, str]
    page: str
    parameters: dict[str, str]
    doc: str
    why: Mapping[str, str]


@cache
def methods() -> tuple[Method, ...]:
    """Return every cell, by family, measures first."""
    result = []
    for row in table("methods_map"):
        page, _, query = row["link"].partition("?")
        texts = {key: {"en": row[f"{key}_en"], "zh": row[f"{key}_zh"]} for key in ("name", "formula", "against", "why")}
        result.append(
            Method(row["family"], row["kind"], texts["name"], texts["formula"], row["source"], texts["against"], page,
                   dict(parse_qsl(query)), row["doc"], texts["why"])
        )  # fmt: skip
    return tuple(result)


def of(family: str, kind: str) -> list[Method]:
    """Return the methods of one cell of the map."""
    return [method for method in methods() if (method.family, method.kind) == (family, kind)]
