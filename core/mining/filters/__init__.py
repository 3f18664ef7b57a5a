"""The filters between a sentence with one keyword and the queue of candidates, in order of cost.

Each is one named function with a code, an explanation and its own tests:
`check(sentence)` returns a Finding, or None if it has nothing
against the sentence; `check_all` says the same of many sentences in less time.
`off`, `reject` or `flag` is set per filter and per pair:
strict where sentences abound, lenient where they are rare.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenhand.core.errors import N_
from evenhand.core.mining.filters.names import names, names_of
from evenhand.core.mining.filters.word_lists import (
    anonymous,
    biological,
    gender_terms,
    generic,
    inside_word,
    length,
)
from evenhand.core.mining.types import Code, Finding, Mode, Sentence

Check = Callable[[Sentence], Finding | None]
CheckAll = Callable[[Sequence[Sentence]], list[Finding | None]]


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter: `check` is None for the two that compare sentences with each other (core.mining.duplicates).

    `rare` is the default for pairs of which a corpus has few sentences (SCARCE).
    Where there is a `check_all`, mining asks it once for all sentences of a block.
    """

    code: Code
    name: str
    explanation: str
    check: Check | None
    default: Mode
    rare: Mode
    check_all: CheckAll | None = None


# Pairs of which 17 million characters of news held fewer than 60 candidates of one side: there a doubtful
# sentence is put last in the queue and not thrown away.
SCARCE = frozenset({"姥爷/姥姥", "外公/外婆", "叔叔/阿姨", "哥哥/姐姐", "弟弟/妹妹", "爷爷/奶奶"})

_ORDER = (
    Filter(
        "length",
        N_("Length"),
        N_("The sentence is shorter or longer than the settings allow; the released data has 9 to 119 characters."),
        length,
        "reject",
        "reject",
    ),
    Filter(
        "inside_word",
        N_("Keyword inside another word"),
        N_("The keyword is part of a word without a counterpart (吉他, 妇女, 对外公布), or of a title in 《》."),
        inside_word,
        "reject",
        "reject",
    ),
    Filter(
        "gender_terms",
        N_("Other gendered words"),
        N_("Another word reveals the gender: 先生, 姐妹俩, 新娘. Which words count depends on the keyword."),
        gender_terms,
        "reject",
        "reject",
    ),
    Filter(
        "biological",
        N_("Biological words"),
        N_("Words about pregnancy, birth or organs reveal the sex, so the counterpart does not fit."),
        biological,
        "reject",
        "reject",
    ),
    Filter(
        "generic",
        N_("Generic 他 and things"),
        N_("他 is generic (每个人……他) or a thing (a hotel, a book), or TA is nearby. Annotators should check this."),
        generic,
        "flag",
        "flag",
    ),
    Filter(
        "anonymous",
        N_("Names with 某"),
        N_("A surname with 某 (李某, 陆某丁) stands for a name. Annotators of the released data kept such sentences."),
        anonymous,
        "reject",
        "flag",
    ),
    Filter(
        "names",
        N_("Personal names"),
        N_("A full, given or foreign name reveals the gender; a surname alone (老马, 张老师) is kept."),
        names,
        "reject",
        "flag",
        names_of,
    ),
    Filter(
        "duplicate",
        N_("Duplicate"),
        N_("The same sentence was read before; the first occurrence is kept."),
        None,
        "reject",
        "reject",
    ),
    Filter(
        "near_duplicate",
        N_("Near-duplicate"),
        N_(
            "Except for the keyword, the sentence is almost identical to one read before; the first occurrence is kept."
        ),
        None,
        "reject",
        "reject",
    ),
)

FILTERS: dict[str, Filter] = {filter_.code: filter_ for filter_ in _ORDER}


def default_mode(code: str, pair: str) -> Mode:
    """Return the default mode of the filter *code* for sentences of *pair*."""
    found = FILTERS[code]
    return found.rare if pair in SCARCE else found.default
