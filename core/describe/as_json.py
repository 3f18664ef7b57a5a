"""A description as one JSON object, and as two small LaTeX tables (booktabs).

In JSON, an undefined number is null, and `<key>_reason` says why.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.core.describe.description import NO_TEXT, Description, Writing, counted
from evenhand.core.describe.keywords import largest_imbalance
from evenhand.core.describe.vocabulary import Coverage
from evenhand.core.errors import N_
from evenhand.core.statistics import Note
from evenhand.core.typed_json import to_json, with_reasons

NO_MODEL = Note(N_("No model was given. Choose the vocabulary to compare with (--model)."))
NO_BLANKS = Note(N_("The texts contain only whitespace."))
NO_SOURCE = Note(N_("No text has a date."))
NO_PAIR = Note(N_("No sentence in this data set has a keyword."))
ALL_EVEN = Note(N_("Every pair has equally many sentences for both words."))
SHOWN_SOURCES = 50


def as_json(description: Description) -> dict[str, Any]:
    """Return the whole description. Keys are stable; shares are of 1."""
    return {
        **{name: getattr(description, name) for name in ("name", "kind", "items", "sentences")},
        "characters": to_json(description.characters),
        "length": to_json(description.lengths),
        "endings": counted(description.endings),
        **_coverage(description.coverage),
        "duplicates": {
            "exact": to_json(description.exact),
            "without_punctuation": to_json(description.near),
            "keyword_masked": to_json(description.twins),
        },
        "keywords": to_json(description.keywords),
        **_balance(description),
        "without_keyword": description.without_keyword,
        **_origins(description),
        **({} if description.writing is None else {"writing": _writing(description.writing)}),
        "signature": description.signature,
    }


def figures(description: Description) -> list[tuple[str, Any, str | None]]:
    """Return each number of a description by its path (`length.median`), or None with its reason, without lists."""
    flat = dict(_flat(as_json(description)))
    reasons = {key.removesuffix("_reason"): reason for key, reason in flat.items() if key.endswith("_reason")}
    known = [(key, value, None) for key, value in flat.items() if not key.endswith("_reason") and value is not None]
    return [*known, *((key, None, reason) for key, reason in reasons.items())]


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        elif not isinstance(value, list):
            yield f"{before}{key}", value


def _coverage(coverage: Coverage | None) -> dict[str, Any]:
    if coverage is None:
        return with_reasons({"vocabulary": None}, NO_MODEL)
    return {
        "vocabulary": {
            "model": coverage.vocabulary.name,
            "size": coverage.vocabulary.size,
            "kind": coverage.vocabulary.kind,
            "distinct_characters": coverage.distinct,
            "distinct_of_vocabulary": coverage.published,
            "in_vocabulary": coverage.known,
            "in_vocabulary_of_vocabulary": coverage.used,
            **with_reasons({"in_vocabulary_of_distinct": coverage.known_share}, NO_TEXT),
            "unknown_characters": coverage.unknown_running,
            **with_reasons({"unknown_share": coverage.unknown_share}, NO_BLANKS),
            "unknown_are_lost": coverage.lost,
            "commonest_unknown": counted(dict(coverage.unknown)),
            "sha256": coverage.vocabulary.digest,
        }
    }


def _balance(description: Description) -> dict[str, Any]:
    worst = largest_imbalance(description.balances)
    return {
        "male": description.of_side("male"),
        "female": description.of_side("female"),
        "balance": to_json(description.balances),
        **with_reasons(
            {"largest_imbalance": None if worst is None else {"pair": worst.pair, "missing": worst.missing}},
            ALL_EVEN if description.balances else NO_PAIR,
        ),
    }


def _origins(description: Description) -> dict[str, Any]:
    origins = description.origins
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


def _writing(writing: Writing) -> dict[str, Any]:
    return {
        "tokens": {"total": writing.total, "distinct": writing.distinct, **to_json(writing.tokens)},
        **with_reasons({"distinct_share_within_a_text": writing.per_text}, NO_TEXT),
        "repetitiveness_completion": to_json(writing.completion),
        "repetitiveness_published": to_json(writing.published),
    }


_ESCAPED = {
    "\\": r"\textbackslash{}",
    **{text: f"\\{text}" for text in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escaped(text: str) -> str:
    """Return *text* escaped for LaTeX; line breaks become blanks."""
    return "".join(_ESCAPED.get(name, " " if name.isspace() else name) for name in text)


def as_latex(description: Description, texts: Mapping[str, str]) -> str:
    """Write both tables; Chinese needs XeLaTeX or LuaLaTeX and a Chinese font.

    *texts*: its numbers as the catalogue of quantities writes them, by their ids without population.
    """
    facts, pairs = _facts(description, texts), _pairs(description, texts)
    return f"% {description.signature}\n% needs \\usepackage{{booktabs}}\n{facts}\n{pairs}"


def _facts(description: Description, texts: Mapping[str, str]) -> str:
    cover = description.coverage
    lengths = [texts[f"texts.{name}"] for name in ("shortest", "median_length", "mean_length", "longest")]
    rows = [
        ("Sentences" if description.kind == "sentences" else "Generations", texts["texts.number"]),
        ("Characters", texts["texts.characters"]),
        ("Distinct characters", texts["texts.distinct_characters"]),
        ("Length (min / median / mean / max)", " / ".join(lengths) if description.sentences else "—"),
        ("Duplicate texts", texts["texts.copies"]),
    ]
    if cover is not None:
        of = f"{cover.vocabulary.name} ({cover.vocabulary.size:,})"
        rows.append((f"Distinct characters, relative to the vocabulary of {of}", texts["texts.of_vocabulary"]))
    lines = "\n".join(f"{escaped(name)} & {escaped(value)} \\\\" for name, value in rows)
    return f"\\begin{{tabular}}{{lr}}\n\\toprule\n{lines}\n\\bottomrule\n\\end{{tabular}}\n"


def _pairs(description: Description, texts: Mapping[str, str]) -> str:
    if not description.balances:
        return ""
    rows = []
    for balance in description.balances:
        value, low, high = (None if part is None else f"{100 * part:.1f}" for part in
                            (balance.share.value, balance.share.low, balance.share.high))  # fmt: skip
        share = "—" if value is None else value if low is None or high is None else f"{value} [{low}, {high}]"
        counts = f"{balance.male:,} & {balance.female:,} & {balance.male + balance.female:,}"
        rows.append(f"{escaped(balance.pair)} & {counts} & {share} \\\\")
    both = f"{description.of_side('male') + description.of_side('female'):,}"
    total = f"Sum & {texts['texts.male']} & {texts['texts.female']} & {both} & \\\\"
    head = r"Pair & male word & female word & both & \% male [95 \%] \\"
    body = "\n".join([head, r"\midrule", *rows, r"\midrule", total])
    return f"\\begin{{tabular}}{{lrrrr}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
