"""Lines of a concordance in another order, with repeated sentences folded into one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evenhand.core.concordance.counting import Line

Order = Literal["text", "left", "right"]
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")  # a Chinese character counts as a word


@dataclass(frozen=True, slots=True)
class RepeatedLine:
    """A line, and where its sentence occurs: document and place of each occurrence."""

    line: Line
    places: tuple[tuple[str, int], ...]


def folded(lines: Iterable[Line], order: Order = "text") -> list[RepeatedLine]:
    """Return *lines* with each repeated sentence once.

    *order*: of the text; or by what is left of the word, outwards from it, or by what is right of it. Lines that are
    equal there keep the order of the text.
    """
    places: dict[tuple[str, tuple[int, int]], list[tuple[str, int]]] = {}
    first: dict[tuple[str, tuple[int, int]], Line] = {}
    for line in lines:
        key = (line.sentence, line.span)
        first.setdefault(key, line)
        places.setdefault(key, []).append((line.document, line.place))
    result = [RepeatedLine(line, tuple(places[key])) for key, line in first.items()]
    return result if order == "text" else sorted(result, key=lambda repeated: _context(repeated.line, order))


def _context(line: Line, order: Order) -> list[str]:
    left, _word, right = line.parts
    words = WORD.findall((left if order == "left" else right).casefold())
    return words[::-1] if order == "left" else words
