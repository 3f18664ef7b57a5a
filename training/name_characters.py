"""Which characters make given names, from the dictionary of the segmenter: `python -m training.name_characters`.

Writes two tables of core/data that the filter of personal names reads:
mining_name_characters.tsv (how much more often a character stands in the
given part of a three-character name than in other words, natural log) and the
first row of mining_ordinary.tsv (words that the dictionary calls a person and
that are part of longer words which are none: 高雅 in 高雅艺术). The dictionary
is jieba's dict.txt (MIT licence); counts and words, no text.
"""

import math
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path

from core.resources import DATA, table
from core.text.dictionary import is_surname

PERSON = ("nr", "nrt", "nrfg")
SMOOTHED = 20  # as many counts of a character are added to those of ordinary words
STEP = 0.5  # scores are rounded to this


def dictionary() -> dict[str, tuple[int, str]]:
    """Word -> (frequency, tag), from the file that jieba ships."""
    found = find_spec("jieba")
    assert found is not None and found.submodule_search_locations
    lines = (Path(found.submodule_search_locations[0]) / "dict.txt").read_text("utf-8").splitlines()
    rows = (line.split(" ") for line in lines)
    return {word: (int(count), tag) for word, count, tag in rows}


def parts_of_longer_words(words: dict[str, tuple[int, str]]) -> set[str]:
    """Every piece of two to four characters of a word that is no person."""
    return {
        word[at : at + size]
        for word, (_, tag) in words.items()
        if tag not in PERSON
        for size in (2, 3, 4)
        if len(word) > size
        for at in range(len(word) - size + 1)
    }


def scores(names: list[str], words: dict[str, tuple[int, str]]) -> dict[str, dict[float, str]]:
    """ "middle" and "last" -> score -> the characters that have it."""
    ordinary: Counter[str] = Counter()
    for word, (count, tag) in words.items():
        if tag not in PERSON:
            ordinary.update(dict.fromkeys(word, count))
    total = ordinary.total() + 1e5
    found: dict[str, dict[float, str]] = {}
    for place, at in (("middle", 1), ("last", 2)):
        given = Counter(name[at] for name in names)
        groups: dict[float, list[str]] = defaultdict(list)
        for character, count in given.items():
            share = math.log((count + 0.3) / (len(names) + 1000))
            score = share - math.log((ordinary[character] + SMOOTHED) / total)
            groups[round(score / STEP) * STEP].append(character)
        found[place] = {score: "".join(sorted(groups[score])) for score in sorted(groups, reverse=True)}
    return found


def main() -> None:
    """Write both tables."""
    words = dictionary()
    inside = parts_of_longer_words(words)
    persons = [word for word, (_, tag) in words.items() if tag in PERSON]
    names = [
        word
        for word in persons
        if len(word) == 3 and is_surname(word[0]) and not {word, word[:2]} & inside and word[:2] not in words
    ]
    lines = [
        "# How much more often a character stands in the given part of a name of three characters than in other words.",
        f"# Natural log, rounded to {STEP}; from {len(names)} names of jieba's dictionary (MIT).",
        "# Written by training/name_characters.py.",
        "place\tscore\tcharacters",
    ]
    for place, groups in scores(names, words).items():
        lines += [f"{place}\t{score}\t{characters}" for score, characters in groups.items()]
    (DATA / "mining_name_characters.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    known = {name for row in table("mining_known_names") for name in row["names"].split()}
    ordinary = sorted(word for word in persons if word in inside and len(word) in (2, 3, 4) and word not in known)
    lines = [
        "# Words that jieba's dictionary tags as a person and that are ordinary words here: they are parts of longer",
        "# words which are no persons; known names (mining_known_names) are left out.",
        "# Written by training/name_characters.py.",
        "words",
        " ".join(ordinary),
    ]
    (DATA / "mining_ordinary.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(names)} names, {len(ordinary)} ordinary words")


if __name__ == "__main__":
    main()
