"""Slides for a talk: a sentence, a guess, the answer of a model, the same sentence with another word, and the mass.

The page Try and the page to hand out show them with the same script (static/presenter.js), which computes no number: it
gets the readings of `core.sentence_bias` and their sentences in both languages. Direction: positive leans to the male
word, which is on the right.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_
from evenhand.core.language import LANGUAGES, share_text, translate
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.resources import table
from evenhand.core.sentence_bias.bias import NO_SLOT, odds
from evenhand.core.sentence_bias.model_answer import ModelAnswer
from evenhand.core.sentence_bias.slot import Slot

STATIC = Path(__file__).parent / "static"
FURTHEST = 3.0  # log10 at which the bar ends; a stronger lean is drawn at its end
SMALL = N_("The two words together get less than 1% of the probability: interpret the ratio with caution.")
TEXTS = {
    "ask": N_("Which word is more likely?"),
    "guess": N_("Your guess: {word}"),
    "equal": N_("equally likely"),
    "times": N_("{times} times"),
    "neither": N_("other words"),
    "next": N_("Next"),
    "example": N_("Example {number} of {count}"),
    "share": N_("Share this slide"),
    "copy": N_("Copy link"),
    "copied": N_("Copied"),
    "no_copy": N_("The browser does not allow copying. Select the link."),
    "code": N_("QR code of the link"),
    "no_code": N_("The link is too long for a QR code."),
    "leave": N_("Leave"),
    "keys_ask": N_("← → guess · Esc leave"),
    "keys": N_("Space next · ← → examples · Esc leave"),
    "presenter": N_("Presenter mode"),
}


@dataclass(frozen=True, slots=True)
class Swap:
    """A word of a sentence with the word that takes its place, and the sentence with it."""

    word: str
    other: str
    text: str


def swap_in(slot: Slot) -> Swap | None:
    """Return the swap of the table that fits the sentence of *slot* outside the slot; None without one."""
    taken = {at for place in slot.probe.places() for at in range(place.start, place.end)} | set(range(*slot.word))
    edge = "" if slot.language in WITHOUT_SPACES else r"\b"
    for row in table("presenter"):
        match = re.search(f"{edge}{re.escape(row['word'])}{edge}", slot.text)
        if row["language"] == slot.language and match and taken.isdisjoint(range(*match.span())):
            text = slot.text[: match.start()] + row["other"] + slot.text[match.end() :]
            return Swap(row["word"], row["other"], text)
    return None


def slide(
    reading: ModelAnswer, model: str, *, swap: Swap | None = None, swapped: ModelAnswer | None = None, note: str = ""
) -> dict[str, Any]:
    """Return one slide for the script. *swapped*: the reading of the sentence of *swap*; *note*: what the model is."""
    steps = [_step(reading, swap.word if swap and swapped else "")]
    if swap is not None and swapped is not None:
        steps.append(_step(swapped, swap.other))
    slot = reading.slot
    return {
        "language": slot.language, "model": model, "note": note, "sided": slot.sided, "steps": steps,
        "male": slot.male, "female": slot.female, "signature": reading.signature,
    }  # fmt: skip


def _step(reading: ModelAnswer, word: str) -> dict[str, Any]:
    value = reading.bias_log10
    message, values = odds(value, (reading.slot.male, reading.slot.female))
    shares = None if reading.pair_mass is None else [reading.p_female, reading.p_male]
    return {
        "word": word,
        "parts": _parts(reading.slot, word),
        "value": None if value is None else max(-FURTHEST, min(FURTHEST, value)),
        "log10": value if value is not None and math.isfinite(value) else None,
        "verdict": _in_both(message, **values) if value is not None else _in_both(reading.reason or message),
        "shares": shares,
        "share_texts": [share_text(share) for share in (*shares, 1 - (reading.pair_mass or 0))] if shares else [],
        "mass": _mass(reading),
    }


def _mass(reading: ModelAnswer) -> dict[str, str]:
    """Return in both languages how much probability the two words have, with the caution; or why this is unknown."""
    if reading.pair_mass is None:
        return _in_both(reading.mass_reason or NO_SLOT)
    text = N_("The two words together have {share} of the probability; the ratio says nothing about the rest.")
    result = _in_both(text, share=share_text(reading.pair_mass))
    return _in_both(SMALL) if reading.small_mass else result


def _parts(slot: Slot, word: str) -> list[list[str]]:
    """Return the sentence in parts: [text], ["word", text] for the word that is swapped, ["slot", female, male]."""
    parts: list[list[str]] = []
    at = 0
    for place in slot.probe.places():
        male, female = place.options[:2]
        parts += [*_around(slot.text[at : place.start], word), ["slot", female, male]]
        at = place.end
    return [*parts, *_around(slot.text[at:], word)]


def _around(text: str, word: str) -> list[list[str]]:
    if not word or word not in text:
        return [[text]]
    before, after = text.split(word, 1)
    return [[before], ["word", word], [after]]


def _in_both(message: str, **values: object) -> dict[str, str]:
    return {language: translate(message, language).format(**values) for language in LANGUAGES}


def show_data(slides: Sequence[dict[str, Any]], language: str, **more: Any) -> dict[str, Any]:
    """Return what the script shows; *language*: of its texts; *more*: guess, code and so on."""
    texts = {each: {key: translate(text, each) for key, text in TEXTS.items()} for each in sorted(LANGUAGES)}
    return {"slides": list(slides), "language": language, "texts": texts, "furthest": FURTHEST} | more


@cache
def script() -> str:
    """Return the script, which defines the function present(root, data, actions)."""
    return (STATIC / "presenter.js").read_text(encoding="utf-8")


@cache
def boot() -> str:
    """Return the script that opens the slides in a page without a server."""
    return (STATIC / "boot.js").read_text(encoding="utf-8")


@cache
def style() -> str:
    """Return the style of the slides; its colours are the variables of the page."""
    return (STATIC / "presenter.css").read_text(encoding="utf-8")


def as_script(data: dict[str, Any]) -> str:
    """Return *data* as JavaScript that may be written between <script> and </script>."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
