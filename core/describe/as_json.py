"""A description as one JSON object: what is undefined is null with `<key>_reason` beside it."""

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.core.describe.characters import COMMONEST, NO_TEXT, Lengths
from evenhand.core.describe.description import Description
from evenhand.core.describe.generations import Writing
from evenhand.core.describe.keywords import NOT_KNOWN, largest_imbalance
from evenhand.core.describe.repeats import Repeats
from evenhand.core.describe.vocabulary import Coverage
from evenhand.core.errors import N_
from evenhand.core.statistics import Note
from evenhand.core.text.repetition import Repeated

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
        "characters": {
            "total": found.characters.total,
            "distinct": found.characters.distinct,
            "commonest": [{"character": one, "count": count} for one, count in found.characters.commonest(COMMONEST)],
        },
        "length": _lengths(found.lengths),
        "endings": [{"character": one, "count": count} for one, count in found.endings.items()],
        **_coverage(found.coverage),
        "duplicates": {
            "exact": _repeats(found.exact, found),
            "without_punctuation": _repeats(found.near, found),
            "keyword_masked": _repeats(found.twins, found),
        },
        "keywords": [_keyword(row) for row in found.keywords],
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


def maybe(key: str, value: Any, reason: Note | None) -> dict[str, Any]:
    """{key: value}, and `<key>_reason` beside it where the value is None."""
    return {key: value} if value is not None else {key: None, f"{key}_reason": str(reason)}


def _lengths(found: Lengths) -> dict[str, Any]:
    values = {"min": found.least, "median": found.median, "mean": found.mean, "max": found.most}
    whole: dict[str, Any] = {}
    for key, value in values.items():
        whole |= maybe(key, value, NO_TEXT)
    return whole | {"counts": {str(length): texts for length, texts in found.by.items()}}


def _coverage(found: Coverage | None) -> dict[str, Any]:
    if found is None:
        return maybe("vocabulary", None, NO_MODEL)
    return {
        "vocabulary": {
            "model": found.vocabulary.name,
            "size": found.vocabulary.size,
            "kind": found.vocabulary.kind,
            "distinct_characters": found.distinct,
            "distinct_of_vocabulary": found.published,
            "in_vocabulary": found.known,
            "in_vocabulary_of_vocabulary": found.used,
            **maybe("in_vocabulary_of_distinct", found.known_share, NO_TEXT),
            "unknown_characters": found.unknown_running,
            **maybe("unknown_share", found.unknown_share, NO_BLANKS),
            "unknown_are_lost": found.lost,
            "commonest_unknown": [{"character": one, "count": count} for one, count in found.unknown],
            "sha256": found.vocabulary.digest,
        }
    }


def _repeats(found: Repeats, of: Description) -> dict[str, Any]:
    return {
        "groups": found.groups,
        "texts": found.texts,
        "surplus": found.surplus,
        "different": of.sentences - found.surplus,
        "places": [[of.places[number] for number in group] for group in found.places],
    }


def _keyword(row: Any) -> dict[str, Any]:
    return {
        "pair": row.pair,
        "side": row.side,
        "word": row.word,
        **maybe("before", row.before, NOT_KNOWN),
        **maybe("decided", row.decided, NOT_KNOWN),
        "after": row.after,
        "kept_share": row.share.to_json(reasons="value"),
    }


def _balance(found: Description) -> dict[str, Any]:
    rows = [
        {
            "pair": one.pair,
            "male": one.male,
            "female": one.female,
            "missing": one.missing,
            "male_share": one.share.to_json(reasons="value"),
            **maybe("p", one.p, one.untested),
            **maybe("p_holm", one.p_holm, one.untested),
        }
        for one in found.balances
    ]
    worst = largest_imbalance(found.balances)
    return {
        "male": sum(one.male for one in found.balances),
        "female": sum(one.female for one in found.balances),
        "balance": rows,
        **maybe(
            "largest_imbalance",
            None if worst is None else {"pair": worst.pair, "missing": worst.missing},
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
            **maybe("earliest", origins.earliest, NO_SOURCE),
            **maybe("latest", origins.latest, NO_SOURCE),
            "undated": origins.undated,
            "by_month": origins.dated,
        },
    }


def _writing(found: Writing) -> dict[str, Any]:
    return {
        "tokens": {"total": found.total, "distinct": found.distinct, **_lengths(found.tokens)},
        **maybe("distinct_share_within_a_text", found.per_text, NO_TEXT),
        "repetitiveness_completion": _repeated(found.completion),
        "repetitiveness_published": _repeated(found.published),
    }


def _repeated(found: Repeated) -> dict[str, Any]:
    return {
        **maybe("mean", found.mean, found.reason),
        **maybe("std", found.std, found.reason),
        "texts": found.texts,
        "too_short": found.short,
    }
