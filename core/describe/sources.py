"""Where texts come from and of which time they are, as far as their file said so."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_DATE = re.compile(r"(?<!\d)(\d{4})(?:\s*[-/.年]\s*(\d{1,2})(?:\s*[-/.月]\s*(\d{1,2}))?|(\d{2})(\d{2})(?!\d))?(?!\d)")
YEARS = range(1000, 2101)


@dataclass(frozen=True, slots=True)
class Origins:
    """`named`: texts whose source is known, by source, most texts first; `unnamed`: the others.

    `dated`: texts by year and month as far as known ("2018-07", "2018"), in order of time; `undated`: the others.
    `earliest`, `latest`: the first and the last date, as precise as it was given.
    """

    named: dict[str, int]
    unnamed: int
    dated: dict[str, int]
    undated: int
    earliest: str | None
    latest: str | None


@lru_cache(maxsize=10_000)
def date_of(text: str) -> str | None:
    """The date in *text* as YYYY-MM-DD, YYYY-MM or YYYY; None where none can be read. 20180705 counts too."""
    found = _DATE.search(text)
    if found is None or int(found[1]) not in YEARS:
        return None
    month, day = found[2] or found[4], found[3] or found[5]
    if month is None or not 1 <= int(month) <= 12:
        return found[1]
    if day is None or not 1 <= int(day) <= 31:
        return f"{found[1]}-{int(month):02d}"
    return f"{found[1]}-{int(month):02d}-{int(day):02d}"


def origins(sources: Iterable[str], dates: Iterable[str]) -> Origins:
    """Count *sources* and *dates*, one a text, "" where it is not known."""
    named = Counter(sources)
    unnamed = named.pop("", 0)
    read = [date_of(one) if one else None for one in dates]
    known = sorted(one for one in read if one is not None)
    months = Counter(one[:7] for one in known)
    return Origins(
        dict(sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))),
        unnamed,
        dict(sorted(months.items())),
        len(read) - len(known),
        known[0] if known else None,
        known[-1] if known else None,
    )
