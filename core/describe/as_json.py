"""A description as one JSON object: what is undefined is null with `<key>_reason` beside it."""

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.core.describe.characters import NO_TEXT, counted
from evenhand.core.describe.description import Description
from evenhand.core.describe.generations import Writing
from evenhand.core.describe.keywords import largest_imbalance
from evenhand.core.describe.vocabulary import Coverage
from evenhand.core.errors import N_
from evenhand.core.statistics import Note
from evenhand.core.typed_json import to_json, with_reasons

NO_MODEL = Note(N_("No model was given: specify which vocabulary to compare with (--model)."))
NO_BLANKS = Note(N_("The texts contain only whitespace."))
NO_SOURCE = Note(N_("No text has a date."))
NO_PAIR = Note(N_("No sentence in this data set has a keyword."))
ALL_EVEN = Note(N_("Every pair has equally many sentences for both words."))
SHOWN_SOURCES = 50


def as_json(found: Description) -> dict[str, Any]:
    """The whole description. Keys are stable; shares are of 1."""
    return {
        "name": found.name,
        "kind": found.kind,
        "items": found.items,
        "sentences": found.sentences,
        "characters": to_json(found.characters),
        "length": to_json(found.lengths),
        "endings": counted(found.endings),
        **_coverage(found.coverage),
        "duplicates": {
            "exact": to_json(found.exact),
            "without_punctuation": to_json(found.near),
            "keyword_masked": to_json(found.twins),
        },
        "keywords": to_json(found.keywords),
        **_balance(found),
        "without_keyword": found.without_keyword,
        **_origins(found),
        **({} if found.writing is None else {"writing": _writing(found.writing)}),
        "signature": found.signature,
    }


def figures(found: Description) -> list[tuple[str, Any, str | None]]:
    """Return each number of a description by its path (`length.median`), or None with its reason, without lists."""
    flat = dict(_flat(as_json(found)))
    reasons = {key.removesuffix("_reason"): reason for key, reason in flat.items() if key.endswith("_reason")}
    known = [(key, value, None) for key, value in flat.items() if not key.endswith("_reason") and value is not None]
    return [*known, *((key, None, reason) for key, reason in reasons.items())]


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        elif not isinstance(value, list):
            yield f"{before}{key}", value


def _coverage(found: Coverage | None) -> dict[str, Any]:
    if found is None:
        return with_reasons({"vocabulary": None}, NO_MODEL)
    return {
        "vocabulary": {
            "model": found.vocabulary.name,
            "size": found.vocabulary.size,
            "kind": found.vocabulary.kind,
            "distinct_characters": found.distinct,
            "distinct_of_vocabulary": found.published,
            "in_vocabulary": found.known,
            "in_vocabulary_of_vocabulary": found.used,
            **with_reasons({"in_vocabulary_of_distinct": found.known_share}, NO_TEXT),
            "unknown_characters": found.unknown_running,
            **with_reasons({"unknown_share": found.unknown_share}, NO_BLANKS),
            "unknown_are_lost": found.lost,
            "commonest_unknown": counted(dict(found.unknown)),
            "sha256": found.vocabulary.digest,
        }
    }


def _balance(found: Description) -> dict[str, Any]:
    worst = largest_imbalance(found.balances)
    return {
        "male": sum(one.male for one in found.balances),
        "female": sum(one.female for one in found.balances),
        "balance": to_json(found.balances),
        **with_reasons(
            {"largest_imbalance": None if worst is None else {"pair": worst.pair, "missing": worst.missing}},
            ALL_EVEN if found.balances else NO_PAIR,
        ),
    }


def _origins(found: Description) -> dict[str, Any]:
    origins = found.origins
    shown = list(origins.named.items())[:SHOWN_SOURCES]
    return {
        "sources": {
            "different": len(origins.named),
            "unnamed": origins.unnamed,
            "commonest": [{"source": source, "texts": texts} for source, texts in shown],
        },
        "dates": {
            **with_reasons({"earliest": origins.earliest, "latest": origins.latest}, NO_SOURCE),
            "undated": origins.undated,
            "by_month": origins.dated,
        },
    }


def _writing(found: Writing) -> dict[str, Any]:
    return {
        "tokens": {"total": found.total, "distinct": found.distinct, **to_json(found.tokens)},
        **with_reasons({"distinct_share_within_a_text": found.per_text}, NO_TEXT),
        "repetitiveness_completion": to_json(found.completion),
        "repetitiveness_published": to_json(found.published),
    }
