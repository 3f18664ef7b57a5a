"""English sentences of the program in a Chinese text: a reason that was formatted before it was translated."""

import re
from functools import cache

from evenhand.core.language import catalogue, translate

SHORTEST = 24  # letters outside of places: shorter strings are names of things
_PLACE = re.compile(r"\{\w*(?:[.!:\[][^{}]*)?\}")
_LATIN = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,}){3}")


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return for every translated sentence its longest part without a place, and the whole as a pattern."""
    results = []
    for text in catalogue("zh"):
        parts = _PLACE.split(text)
        if sum(map(len, parts)) >= SHORTEST and _LATIN.search(text) and translate(text, "zh") != text:
            whole = ".+?".join(map(re.escape, parts))
            results.append((max(parts, key=len), re.compile(whole, re.S)))
    return results


def english_left(text: str) -> list[str]:
    """Return the English sentences of the catalogue in *text*; backslashes of Markdown are ignored."""
    plain = text.replace("\\", "")
    return sorted({found[0] for part, pattern in _patterns() if part in plain and (found := pattern.search(plain))})
