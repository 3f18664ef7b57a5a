"""Who is meant in a generation, and which pronouns that person uses: what the desk keeps in view."""

from typing import Any

from annotations.types import Item
from core.errors import EvenhandError
from core.text.pronouns import NO_PRONOUNS, PRONOUN_DATASETS, set_named


def target_out(item: Item) -> dict[str, Any]:
    """Name ("" where none was given) and pronoun sets, each with its forms written out, every form once.

    Of the columns that came with a generation only these two leave for a
    desk; the data set is used for its spelling of a set and is not named.
    """
    dataset = item.extra.get("dataset")
    named = item.extra.get("pronouns") or []
    sets = [_set_out(str(each), dataset if dataset in PRONOUN_DATASETS else "own") for each in _listed(named)]
    name = item.extra.get("name")
    return {"name": name.strip() if isinstance(name, str) else "", "sets": sets}


def _listed(named: Any) -> list[Any]:
    return named if isinstance(named, list) else [named]


def _set_out(name: str, dataset: str) -> dict[str, Any]:
    try:
        forms = [form for form in set_named(name, dataset).forms if form]
    except EvenhandError:  # a file may name a set that nobody knows: it is shown as it was written
        forms = [name]
    return {"none": name == NO_PRONOUNS.name, "forms": list(dict.fromkeys(forms))}
