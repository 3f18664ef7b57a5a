"""The share of a model's vocabulary that a set of texts uses, and the share of the texts unknown to the model.

Vocabularies are read from the files in a model's folder, without its weights: tokenizer.json, vocab.txt, vocab.json,
or any file with one word a line.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.models.catalogue import BUILTIN, folder_of, hub_cache

Kind = Literal["pieces", "bytes", "list"]
FILES = ("tokenizer.json", "vocab.txt", "vocab.json")
PIECE = "##"  # what a piece that continues a word begins with
SPACE = "\u2581"  # what stands for the space before a word in other vocabularies
LARGEST = 200_000_000  # bytes; a larger file is not a vocabulary
MOST_UNKNOWN = 20  # characters that are listed

NOT_HERE = N_(
    "The vocabulary of {model} is not on this machine. Give a built-in model, a folder, a file with one"
    " word per line, or a model that has been downloaded before."
)
NO_VOCABULARY = N_("{file} contains no readable vocabulary: {why}.")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a model's vocabulary, special ones included.

    `kind`: "pieces" of words (WordPiece, SentencePiece), "bytes" (byte-level: nothing is unknown), "list" of words.
    `lowers`, `strips`: upper case and accents are taken off before looking up. `digest`: SHA-256 of the words in order.
    """

    name: str
    words: frozenset[str]
    kind: Kind
    lowers: bool
    strips: bool
    digest: str

    @property
    def size(self) -> int:
        """The number of words: |V|."""
        return len(self.words)

    def knows(self, character: str) -> bool:
        """Check whether a character, after the model's own changes, is in the vocabulary as a word or part of one."""
        if self.kind == "bytes":
            return "".join(BYTES[byte] for byte in character.encode("utf-8", "surrogatepass")) in self.words
        found = character.lower() if self.lowers else character
        if self.strips:
            found = "".join(text for text in unicodedata.normalize("NFD", found) if unicodedata.category(text) != "Mn")
        parts = found or character
        return all({part, PIECE + part, SPACE + part} & self.words for part in parts)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Texts against a vocabulary.

    `distinct`: different characters of the texts; `known`: those of them that the vocabulary holds. `unknown`: the
    others with their counts, the most common first; `running`: characters of the texts that are not blank, of which
    `unknown_running` are not in the vocabulary. A byte-level model has no unknown ones: `lost` is False there.
    """

    vocabulary: Vocabulary
    distinct: int
    known: int
    running: int
    unknown_running: int
    unknown: tuple[tuple[str, int], ...]

    @property
    def published(self) -> float:
        """Different characters / |V|, as the papers print it; it says nothing of whether |V| holds them."""
        return self.distinct / self.vocabulary.size

    @property
    def used(self) -> float:
        """Different characters that the vocabulary holds / |V|."""
        return self.known / self.vocabulary.size

    @property
    def known_share(self) -> float | None:
        """The share of the different characters that the vocabulary holds, from 0 to 1; None without characters."""
        return self.known / self.distinct if self.distinct else None

    @property
    def unknown_share(self) -> float | None:
        """The share of the running text without blanks that the vocabulary lacks, from 0 to 1; None without text."""
        return self.unknown_running / self.running if self.running else None

    @property
    def lost(self) -> bool:
        """True if the model cannot see a character that its vocabulary lacks; byte-level models see its bytes."""
        return self.vocabulary.kind != "bytes"


def coverage(counts: Mapping[str, int], found: Vocabulary) -> Coverage:
    """Return the coverage by *found* of texts with these characters (character -> count). Blanks are in no word."""
    known = {count for count in counts if found.knows(count)}
    running = {one: count for one, count in counts.items() if not one.isspace()}
    unknown = sorted(((o, c) for o, c in running.items() if o not in known), key=lambda pair: (-pair[1], pair[0]))
    total = sum(running.values())
    missing = sum(count for _, count in unknown)
    return Coverage(found, len(counts), len(known), total, missing, tuple(unknown[:MOST_UNKNOWN]))


def vocabulary(name: str, *, files: bool = True) -> Vocabulary:
    """Return the vocabulary of a built-in model, a model in a folder or the hub's local cache, or a file of words.

    `files`: False takes no file of words. Raises NotFound where there is none by that name on this machine, BadFile
    where its file cannot be read.
    """
    if name in BUILTIN:
        return _of_folder(folder_of(name), name)
    path = Path(name).expanduser()
    if path.is_dir():
        return _of_folder(path, name)
    if files and path.is_file():
        return _of_file(path, path.name)
    folder = _cached(name)
    if folder is None:
        raise NotFound(NOT_HERE, model=name)
    return _of_folder(folder, name)


def _cached(name: str) -> Path | None:
    """Return the snapshot of a hub model with a vocabulary; its weights may be missing."""
    path = hub_cache() / f"models--{name.replace('/', '--')}"
    reference = path / "refs" / "main"
    if not reference.is_file():
        return None
    folder = path / "snapshots" / reference.read_text().strip()
    return folder if any((folder / file).is_file() for file in FILES) else None


def _of_folder(folder: Path, name: str) -> Vocabulary:
    for file in FILES:
        if (folder / file).is_file():
            return _of_file(folder / file, name)
    raise NotFound(NOT_HERE, model=name)


def _of_file(path: Path, name: str) -> Vocabulary:
    try:
        if path.stat().st_size > LARGEST:
            raise BadFile(NO_VOCABULARY, file=path.name, why="> 200 MB")
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json":
            return _of_json(json.loads(text), path, name)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(NO_VOCABULARY, file=path.name, why=error) from error
    words = [line for line in text.split("\n") if line] if path.name == "vocab.txt" else text.split("\n")
    words = [word.rstrip("\r") for word in words if word.strip("\r\n")]
    lowers = _setting(path.parent, words)
    return _vocabulary(name, words, "pieces" if path.name == "vocab.txt" else "list", lowers, lowers)


def _setting(folder: Path, words: list[str]) -> bool:
    """Check whether a vocab.txt is used in lower case.

    Its tokenizer_config.json decides; without that setting, no word may have an upper-case letter.
    """
    try:
        setting = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))["do_lower_case"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        setting = None
    if isinstance(setting, bool):
        return setting
    return not any(word != word.lower() for word in words if not (word.startswith("[") and word.endswith("]")))


def _of_json(found: Any, path: Path, name: str) -> Vocabulary:
    if path.name == "vocab.json" or "model" not in found:
        return _vocabulary(name, list(found), "bytes", False, False)
    model, added = found["model"], [entry["content"] for entry in found.get("added_tokens") or ()]
    words = list(model["vocab"]) if isinstance(model["vocab"], dict) else [word for word, _ in model["vocab"]]
    steps = [*_steps(found.get("normalizer"), "normalizers"), *_steps(found.get("pre_tokenizer"), "pretokenizers")]
    steps += _steps(found.get("decoder"), "decoders")
    kind: Kind = "bytes" if any(step.get("type") == "ByteLevel" for step in steps) else "pieces"
    bert: dict[str, Any] = next((step for step in steps if step.get("type") == "BertNormalizer"), {})
    lowers = bool(bert.get("lowercase")) or any(step.get("type") == "Lowercase" for step in steps)
    said = bert.get("strip_accents")
    strips = (lowers if said is None else bool(said)) if bert else any(s.get("type") == "StripAccents" for s in steps)
    return _vocabulary(name, [*words, *(entry for entry in added if entry not in model["vocab"])], kind, lowers, strips)


def _steps(part: Any, inner: str) -> list[dict[str, Any]]:
    """Return the steps of one part of a tokenizer.json, which is one step or a sequence of them."""
    if not isinstance(part, dict):
        return []
    return [part, *(step for step in part.get(inner) or () if isinstance(step, dict))]


def _vocabulary(name: str, words: list[str], kind: Kind, lowers: bool, strips: bool) -> Vocabulary:
    if not words:
        raise BadFile(NO_VOCABULARY, file=name, why="0")
    digest = hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()
    return Vocabulary(name, frozenset(words), kind, lowers, strips, digest)


# The visible character that stands for each byte in byte-level vocabularies (Radford et al. 2019).
_VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_OTHERS = [byte for byte in range(256) if byte not in _VISIBLE]
BYTES = {byte: chr(byte) for byte in _VISIBLE} | {byte: chr(256 + n) for n, byte in enumerate(_OTHERS)}
