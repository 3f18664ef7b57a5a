"""How fast and how large mining is: `python -m benchmarks.mining [--megabytes 200] [--memory 1000] [--corpus FILE]`.

Everything runs on one thread. Times are seconds of the processor, the least of
three runs, after one that loads dictionaries. The text is the corpus again and again, each
sentence made distinct: two characters that belong to no keyword and all digits
are replaced at random (seed 0), the new characters as frequent as in the corpus.
--megabytes: of the text for the rate; --memory: of that for the peak memory;
--naive: kilobytes for the naive way; 0 leaves out.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # before numpy is loaded

import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import options
from evenhand.core.mining.duplicates import text_key
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import CODES, Settings
from evenhand.core.resources import ROOT, keyword_pairs
from evenhand.core.text.sentences import split

CORPUS = ROOT.parent / "shared" / "data" / "corpora" / "zh_wiki.txt"
OFF: dict[str, Any] = dict.fromkeys(CODES, "off")
NO_NAMES: dict[str, Any] = {"names": "off"}
ROUNDS = 3
KEYWORD_CHARACTERS = frozenset("".join(pair.male + pair.female for pair in keyword_pairs()))


def distinct(corpus: str, target: Path, megabytes: float) -> int:
    """Write about so many megabytes of distinct sentences to *target*; returns how many sentences."""
    chance = random.Random(0)
    pool = [name for name in corpus if "\u4e00" <= name <= "\u9fff" and name not in KEYWORD_CHARACTERS]
    lines = [[(part, _places(part)) for part in split(line)] for line in corpus.split("\n") if line]
    written, count = 0, 0
    with target.open("wb") as file:
        while written < megabytes * 1e6:
            fresh = chance.choices(pool, k=2 * sum(map(len, lines)))
            text = "\n".join("".join(_altered(part, at, chance, fresh) for part, at in line) for line in lines)
            count += sum(map(len, lines))
            written += file.write(text.encode() + b"\n")
    return count


def _places(part: str) -> list[int]:
    return [at for at, text in enumerate(part) if "\u4e00" <= text <= "\u9fff" and text not in KEYWORD_CHARACTERS]


def _altered(part: str, places: list[int], chance: random.Random, fresh: list[str]) -> str:
    characters = list(part)
    for _ in range(min(2, len(places))):
        characters[places[int(chance.random() * len(places))]] = fresh.pop()
    text = "".join(characters)
    return re.sub("[0-9]", lambda _: chance.choice("0123456789"), text) if any(map(str.isdigit, text)) else text


def seconds(call: Callable[[], Any], times: int = 1) -> float:
    """The least processor time of some runs of *call*."""
    least = float("inf")
    for _ in range(times):
        began = time.process_time()
        call()
        least = min(least, time.process_time() - began)
    return least


def naive(text: str) -> int:
    """Mine in the simplest way: split, tag every sentence with jieba.posseg, apply the rules; return the count."""
    import jieba.posseg

    words = {word: pair for pair in keyword_pairs("table1") for word in (pair.male, pair.female)}
    result, seen = 0, set()
    for part in re.split(r"(?<=[。？！?!])", text):
        sentence = re.sub(r"\s+", "", part)
        tokens = [(entry.word, entry.flag) for entry in jieba.posseg.cut(sentence)]
        hits = [word for word, _ in tokens if word in words]
        if len(hits) == 1 and 9 <= len(sentence) <= 119 and sentence not in seen:
            seen.add(sentence)
            result += 1
    return result


def floor(path: Path) -> None:
    """Decode and split, nothing else."""
    with path.open("rb") as file:
        while lines := file.readlines(1 << 20):
            for line in b"".join(lines).decode().split("\n"):
                split(line)


def run(path: Path, modes: dict[str, Any]) -> int:
    """Candidates of *path*, thrown away."""
    return mine([path], Settings(modes=modes), on_candidate=lambda _line: None).candidates


def against_naive(corpus: str, folder: Path, kilobytes: int) -> None:
    """Compare the speed of the naive way and of the app on the same text, with the filter of names off."""
    part = corpus.encode()[: kilobytes * 1000].decode(errors="ignore")
    path = folder / "part.txt"
    path.write_text(part, encoding="utf-8")
    size = len(part.encode()) / 1e6
    run(path, NO_NAMES)  # loads dictionaries
    naive("他来了。")
    slow, fast = seconds(lambda: naive(part)), seconds(lambda: run(path, NO_NAMES), 3)
    print(f"the naive way (split, jieba.posseg on every sentence, rules): {size / slow:.3f} MB/s on {size:.1f} MB")
    print(f"mine, names off, same text: {size / fast:.1f} MB/s, {slow / fast:.0f} times as fast")


def stages(path: Path, sentences: int) -> None:
    """MB/s as a whole and what each stage takes."""
    size = path.stat().st_size / 1e6
    print(
        f"{size:.0f} MB, {sentences:,} sentences, {share_distinct(path):.4%} of those of 9 characters or more distinct"
    )
    filters = NO_NAMES | {"duplicate": "off", "near_duplicate": "off"}
    ways = [lambda: floor(path), *(lambda modes=modes: run(path, modes) for modes in (OFF, filters, NO_NAMES, {}))]
    first = [seconds(call) for call in ways]  # dictionaries are loaded, words are worked out and remembered
    least, found, filtered, whole, named = (seconds(call, ROUNDS) for call in ways)
    print(f"floor (decode and split): {size / least:.0f} MB/s")
    print(f"mine, names off: {size / whole:.1f} MB/s; defaults (names reject or flag): {size / named:.1f} MB/s")
    print(f"the same the first time: {size / first[3]:.1f}; {size / first[4]:.1f} MB/s (words not met before)")
    parts = {
        "decode and split": least,
        "read, encoding, clean, find, places": found - least,
        "filters without names": filtered - found,
        "duplicates and lines": whole - filtered,
    }
    for name, spent in parts.items():
        print(f"  {spent / whole:6.1%}  {name}")


def share_distinct(path: Path) -> float:
    """The share of distinct sentences among those of 9 characters or more."""
    with path.open(encoding="utf-8") as file:
        keys = np.fromiter(
            (text_key(part) for line in file for part in split(line.rstrip("\n")) if len(part) > 8), "u8"
        )
    return len(np.unique(keys)) / len(keys)


def memory(path: Path) -> None:
    """The peak of a process of its own, as the command runs it."""
    size = path.stat().st_size / 1e6
    command = [sys.executable, str(ROOT / "cli.py"), "mine", str(path), "--out", str(path.with_name("c.jsonl"))]
    began, peak = time.monotonic(), 0.0
    # Not from getrusage: that counts the process from which it was begun as well.
    with subprocess.Popen([*command, "--names", "off", "--json"], stdout=subprocess.DEVNULL, cwd=ROOT) as process:
        while process.poll() is None:
            match = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
            peak = max(peak, int(match[1]) / 1024) if match else peak
            time.sleep(0.05)
    print(f"peak memory on {size:.0f} MB, names off: {peak:.0f} MB ({time.monotonic() - began:.0f} s by the clock)")


def main() -> None:
    """Print the figures."""
    arguments = options(__doc__, corpus=CORPUS, megabytes=200.0, memory=1000.0, naive=1000)
    corpus = arguments.corpus.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if arguments.naive:
            against_naive(corpus, folder, arguments.naive)
        text = folder / "text.txt"
        if arguments.megabytes:
            stages(text, distinct(corpus, text, arguments.megabytes))
        if arguments.memory:
            distinct(corpus, text, arguments.memory)
            memory(text)


if __name__ == "__main__":
    main()
