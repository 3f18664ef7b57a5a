"""A description as one JSON object, and as two small LaTeX tables (booktabs).

In JSON, what is undefined is null with `<key>_reason` beside it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.core.describe.description import NO_TEXT, Description, Writing, counted
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


_ESCAPED = {
    "\\": r"\textbackslash{}",
    **{one: f"\\{one}" for one in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escaped(text: str) -> str:
    """*text* escaped for LaTeX; line breaks become blanks."""
    return "".join(_ESCAPED.get(one, " " if one.isspace() else one) for one in text)


def as_latex(found: Description) -> str:
    """Both tables; Chinese needs XeLaTeX or LuaLaTeX with a font that has it. Undefined values are dashes."""
    return f"% {found.signature}\n% needs \\usepackage{{booktabs}}\n{_facts(found)}\n{_pairs(found)}"


def _facts(found: Description) -> str:
    size, cover, length = found.lengths, found.coverage, "—"
    if size.median is not None and size.mean is not None:
        length = f"{size.least} / {size.median:g} / {size.mean:.2f} / {size.most}"
    rows = [
        ("Sentences" if found.kind == "sentences" else "Generations", f"{found.sentences:,}"),
        ("Characters", f"{found.characters.total:,}"),
        ("Distinct characters", f"{found.characters.distinct:,}"),
        ("Length (min / median / mean / max)", length),
        ("Duplicate texts", f"{found.exact.surplus:,}"),
    ]
    if cover is not None:
        of = f"{cover.vocabulary.name} ({cover.vocabulary.size:,})"
        rows.append((f"Distinct characters, relative to the vocabulary of {of}", f"{100 * cover.published:.2f}%"))
    lines = "\n".join(f"{escaped(name)} & {escaped(value)} \\\\" for name, value in rows)
    return f"\\begin{{tabular}}{{lr}}\n\\toprule\n{lines}\n\\bottomrule\n\\end{{tabular}}\n"


def _pairs(found: Description) -> str:
    if not found.balances:
        return ""
    rows = []
    for one in found.balances:
        value, low, high = (None if part is None else f"{100 * part:.1f}" for part in
                            (one.share.value, one.share.low, one.share.high))  # fmt: skip
        share = "—" if value is None else value if low is None or high is None else f"{value} [{low}, {high}]"
        counts = f"{one.male:,} & {one.female:,} & {one.male + one.female:,}"
        rows.append(f"{escaped(one.pair)} & {counts} & {share} \\\\")
    male, female = (sum(getattr(one, side) for one in found.balances) for side in ("male", "female"))
    total = f"Sum & {male:,} & {female:,} & {male + female:,} & \\\\"
    head = r"Pair & male word & female word & both & \% male [95 \%] \\"
    body = "\n".join([head, r"\midrule", *rows, r"\midrule", total])
    return f"\\begin{{tabular}}{{lrrrr}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
