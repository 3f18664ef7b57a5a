"""The keys of reject reasons and tags: the one list from which desk, pages and commands show them.

A reason keeps the key that its guideline names. One without a key, or with a key that no desk can type, gets the next
free key of `KEYS`; beyond these it is clicked.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from evenhand.annotations.types import Choice, Kind

# Letters that the desk uses itself; see annotations/desk/static/keys.js and generations_keys.js.
DESK_KEYS: dict[Kind, str] = {"sentences": "SUXNHO", "generations": "FMBTNXUH"}
# Letters that keep their meaning while reasons are chosen, or would be mistaken for the key of a choice.
RESERVED: dict[Kind, str] = {"sentences": f"{DESK_KEYS['sentences']}TJK", "generations": "T"}
# In the order in which they are given. Of generations digits are the keys of labels, so tags get letters.
KEYS: dict[Kind, str] = {
    "sentences": "1234567890" + "".join(one for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if one not in "SUXNHOTJK"),
    "generations": "".join(one for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if one not in DESK_KEYS["generations"]),
}
_NUMBERED = re.compile(r"^ {0,3}(\d{1,3})[.)]\s", re.MULTILINE)


def is_reachable(kind: Kind, key: str) -> bool:
    """Return whether a desk of this kind takes *key* for a reason: one letter or digit that it does not use itself."""
    return len(key) == 1 and key.isascii() and key.isalnum() and key.upper() not in RESERVED[kind]


def free_keys(kind: Kind, reasons: Sequence[Choice]) -> list[str]:
    """Return the keys of `KEYS` that none of the *reasons* has."""
    taken = {one.key.upper() for one in reasons}
    return [key for key in KEYS[kind] if key not in taken]


def with_keys(kind: Kind, reasons: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return the *reasons* with a key each, as long as there are free ones."""
    free = iter(free_keys(kind, [one for one in reasons if is_reachable(kind, one.key)]))
    return tuple(one if is_reachable(kind, one.key) else replace(one, key=next(free, "")) for one in reasons)


def clashing_numbers(
    before: str, text: str, old: Sequence[Choice], reasons: Sequence[Choice]
) -> list[tuple[int, Choice]]:
    """Return the numbers of list items that *text* has and *before* has not, whose key is an older reason's.

    At the desk such a number would choose that reason, not the criterion with this number in the text.
    """
    new = {int(number) for number in _NUMBERED.findall(text)} - {int(number) for number in _NUMBERED.findall(before)}
    known = {(one.code, one.key) for one in old}
    by_key = {one.key: one for one in reasons if (one.code, one.key) in known}
    keys = {number: "0" if number == 10 else str(number) for number in sorted(new)}
    return [(number, by_key[key]) for number, key in keys.items() if key in by_key]
