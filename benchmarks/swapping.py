"""How often counterfactual texts are right, and how fast: the figures of docs/swap.md.

    python -m benchmarks.swapping [--shared ../shared/data] [--read]

English: sets whose truth is known. Chinese: 200 sentences of newspapers, drawn by a seed; a person read what became of
each, and `RIGHT` is the hash of those that were right. --read prints them to be read again.
"""

import argparse
import csv
import hashlib
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

from evenhand.core.swap.swapping import Swapped, Swapper
from evenhand.core.swap.word_tables import word_table

SEED, DRAWN = 17, 200
WRONG = "的表情，但没有人能真正读懂"  # 少女 became 少男
RIGHT = "24a860fddd811a3a"
PRONOUNS = {"he", "she", "him", "her", "his", "hers", "himself", "herself"}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--read", action="store_true")
    given = parser.parse_args()
    _english(given.shared / "benchmarks")
    _chinese(given.shared / "slguset" / "SlguSet_dev.csv", given.read)
    for language, file in (("zh", "zh_wiki.txt"), ("en", "en_classics.txt")):
        _speed(language, given.shared / "corpora" / file)


def _english(folder: Path) -> None:
    swapper = Swapper(word_table("en"))
    with (folder / "winogender" / "all_sentences.tsv").open(encoding="utf-8") as file:
        texts = {row["sentid"]: row["sentence"] for row in csv.DictReader(file, delimiter="\t")}
    sides = ((".male.", ".female."), (".female.", ".male."))
    right = [
        swapper(text).text == texts[name.replace(own, other)]
        for name, text in texts.items()
        for own, other in sides
        if own in name
    ]
    print(f"Winogender: {sum(right)} of {len(right)} sentences right")
    right = list(_winobias(folder / "winobias", swapper))
    print(f"WinoBias: {sum(right)} of {len(right)} pronouns right")


def _winobias(folder: Path, swapper: Swapper) -> Iterator[bool]:
    """Of each pronoun in which the two sets differ, where they differ in pronouns only, whether it is right."""
    for part in ("type1.txt.dev", "type1.txt.test", "type2.txt.dev", "type2.txt.test"):
        files = [folder / f"{side}_{part}" for side in ("pro_stereotyped", "anti_stereotyped")]
        rows = [[_tokens(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files]
        for one, other in zip(*rows, strict=False):
            for words, wanted in ((one, other), (other, one)):
                places = [i for i, pair in enumerate(zip(words, wanted, strict=False)) if pair[0] != pair[1]]
                if len(words) == len(wanted) and {words[i].lower() for i in places} <= PRONOUNS:
                    swapped = swapper(" ".join(words)).text.split()
                    yield from (swapped[i] == wanted[i] for i in places)


def _tokens(line: str) -> list[str]:
    return re.findall(r"\w+|\S", re.sub(r"[\[\]]", "", line.split(" ", 1)[1]))


def _chinese(path: Path, read: bool) -> None:
    with path.open(encoding="utf-8-sig") as file:
        rows = [row["句子"] for row in csv.DictReader(file)]
    swapper = Swapper(word_table("zh"))
    found = [swapper(text) for text in random.Random(SEED).sample(rows, DRAWN)]
    if read:
        print(*map(_marked, found), sep="\n")
    right = [one for one in found if WRONG not in one.source]
    known = _digest(right) == RIGHT
    print(
        f"newspapers: {len(right)} of {DRAWN} right" if known else "newspapers: changed since read; --read shows them"
    )
    if not known:
        print(f"RIGHT = {_digest(right)!r} once they are right")


def _digest(found: list[Swapped]) -> str:
    return hashlib.sha256("\n".join(one.text for one in found).encode()).hexdigest()[:16]


def _marked(one: Swapped) -> str:
    parts, at = [], 0
    for change in one.changes:
        parts += [one.source[at : change.start], f"[{change.word}→{change.counterpart}]"]
        at = change.end
    return "".join([*parts, one.source[at:]])


def _speed(language: str, path: Path) -> None:
    texts = path.read_text(encoding="utf-8")[: 4 << 20].splitlines()
    swapper = Swapper(word_table(language))
    began = time.perf_counter()
    swapped = sum(swapper(text).outcome == "swapped" for text in texts)
    seconds = time.perf_counter() - began
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{language}: {size / seconds:.1f} MB a second, {swapped:,} of {len(texts):,} texts swapped")


if __name__ == "__main__":
    main()
