"""Find characters of given names in the dictionary of the segmenter: `python -m training.name_characters`.

Writes three tables of core/data that the filter of personal names reads:
mining_name_characters.tsv (how much more often a character occurs in the
given part of a three-character name, in a transliterated name, in a Japanese
given name than in other words, natural log), mining_japanese_surnames.tsv, and
the first row of mining_ordinary.tsv (words that the dictionary calls a person
and that are part of longer words which are not persons: 高雅 in 高雅艺术). The
dictionary is jieba's dict.txt (MIT licence); Japanese names are those of
japanese-personal-name-dataset 0.4.0 (MIT licence), which is installed for this
only. Counts and words, no text.
"""

import csv
import math
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path

import opencc

from evenhand.core.mining.filters.name_words import FOREIGN
from evenhand.core.resources import DATA, table
from evenhand.core.text.dictionary import is_surname

PERSON = ("nr", "nrt", "nrfg")
SMOOTHED = 20  # as many counts of a character are added to those of ordinary words
STEP = 0.5  # scores are rounded to this
MOST_FOREIGN = 0.6  # share of the characters of a word that are used for transliterating: then it is a foreign name
SEEN = 5  # a character of foreign names occurs in so many of them at least


def folder_of(package: str) -> Path:
    """Return the folder of an installed package."""
    result = find_spec(package)
    assert result is not None and result.submodule_search_locations, f"pip install {package} first"
    return Path(result.submodule_search_locations[0])


def dictionary() -> dict[str, tuple[int, str]]:
    """Word -> (frequency, tag), from the file that jieba ships."""
    lines = (folder_of("jieba") / "dict.txt").read_text("utf-8").splitlines()
    rows = (line.split(" ") for line in lines)
    return {word: (int(count), tag) for word, count, tag in rows}


def japanese_names() -> tuple[list[str], set[str]]:
    """Surnames of two characters or more, and given names of two or three, in simplified Chinese characters."""
    folder = folder_of("japanese_personal_name_dataset") / "dataset"
    traditional, simplified = opencc.OpenCC("jp2t"), opencc.OpenCC("t2s")

    def chinese(name: str) -> str:
        found = simplified.convert(traditional.convert(name))
        return found if all("一" <= character <= "龥" for character in found) else ""

    def rows(name: str) -> list[list[str]]:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            return list(csv.reader(lines))

    surnames = dict.fromkeys(chinese(row[0]) for row in rows("last_name_org"))
    given = {chinese(name) for sex in ("man", "woman") for row in rows(f"first_name_{sex}_org") for name in row[2:]}
    return [name for name in surnames if 2 <= len(name) <= 4], {name for name in given if 2 <= len(name) <= 3}


def parts_of_longer_words(words: dict[str, tuple[int, str]]) -> set[str]:
    """Return every piece of two to four characters of longer words that are not persons."""
    return {
        word[at : at + size]
        for word, (_, tag) in words.items()
        if tag not in PERSON
        for size in (2, 3, 4)
        if len(word) > size
        for at in range(len(word) - size + 1)
    }


def ordinary_counts(words: dict[str, tuple[int, str]]) -> Counter[str]:
    """Count each character in words that are not persons."""
    counts: Counter[str] = Counter()
    for word, (count, tag) in words.items():
        if tag not in PERSON:
            counts.update(dict.fromkeys(word, count))
    return counts


def grouped(named: Counter[str], names: int, ordinary: Counter[str], least: int = 1) -> dict[float, str]:
    """Return score -> its characters; the score: how much more often a character is in *names* than in other words."""
    total = ordinary.total() + 1e5
    groups: dict[float, list[str]] = defaultdict(list)
    for character, count in named.items():
        if count >= least:
            share = math.log((count + 0.3) / (names + 1000))
            score = share - math.log((ordinary[character] + SMOOTHED) / total)
            groups[round(score / STEP) * STEP].append(character)
    return {score: "".join(sorted(groups[score])) for score in sorted(groups, reverse=True)}


def scores(names: list[str], words: dict[str, tuple[int, str]], given: set[str]) -> dict[str, dict[float, str]]:
    """Place -> score -> the characters that have it: in Chinese, in foreign, in Japanese names (*given*)."""
    ordinary = ordinary_counts(words)
    letters = frozenset(FOREIGN)
    foreign = [
        word
        for word, (_, tag) in words.items()
        if tag in (*PERSON, "ns")
        and len(word) >= 3
        and sum(character in letters for character in word) >= MOST_FOREIGN * len(word)
        and not (tag == "nr" and len(word) == 3 and is_surname(word[0]))
    ]
    # Of foreign names every character counts, once a name; the share is that among all of them.
    sounds = Counter(character for word in foreign for character in set(word))
    return {
        "middle": grouped(Counter(name[1] for name in names), len(names), ordinary),
        "last": grouped(Counter(name[2] for name in names), len(names), ordinary),
        "foreign": grouped(sounds, sounds.total(), ordinary, SEEN),
        "japanese first": grouped(Counter(name[0] for name in given), len(given), ordinary),
        "japanese last": grouped(Counter(name[-1] for name in given), len(given), ordinary),
    }


def main() -> None:
    """Write the tables."""
    words = dictionary()
    inside = parts_of_longer_words(words)
    persons = [word for word, (_, tag) in words.items() if tag in PERSON]
    names = [
        word
        for word in persons
        if len(word) == 3 and is_surname(word[0]) and not {word, word[:2]} & inside and word[:2] not in words
    ]
    surnames, given = japanese_names()
    lines = [
        f"# How much more often a character stands in names than in other words, natural log, rounded to {STEP}:",
        f"# in the given part of {len(names)} names of three characters and in transliterated names of jieba's",
        f"# dictionary (MIT), and in {len(given)} Japanese given names (japanese-personal-name-dataset 0.4.0, MIT).",
        "# Written by training/name_characters.py.",
        "place\tscore\tcharacters",
    ]
    for place, groups in scores(names, words, given).items():
        lines += [f"{place}\t{score}\t{characters}" for score, characters in groups.items()]
    (DATA / "mining_name_characters.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    lines = [
        "# The most frequent Japanese surnames of two characters or more in simplified Chinese characters, from",
        "# japanese-personal-name-dataset 0.4.0 (MIT). Written by training/name_characters.py.",
        "surnames",
        " ".join(surnames),
    ]
    (DATA / "mining_japanese_surnames.tsv").write_text("\n".join(lines) + "\n", "utf-8")
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
