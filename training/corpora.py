"""The texts that the built-in models are trained on, what is held out of them, and their vocabularies."""

import csv
import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import BertWordPieceTokenizer, Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers import BertTokenizer, PreTrainedTokenizerFast

from evenhand.core.resources import ROOT, keyword_pairs

SHARED = ROOT.parent / "shared" / "data"
WIKI = SHARED / "corpora" / "zh_wiki.txt"
SENTENCES = SHARED / "slguset" / "SlguSet_dev.csv"

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
OTHER_FORMS = "它祂妳您你我咱们"
HELD_OUT = 30  # per thousand
LENGTHS = (62, 62, 126, 126, 254)  # of windows, [CLS] and [SEP] not counted
POSITIONS = 256  # the longest input, [CLS] and [SEP] counted


def read_wiki(path: Path) -> list[str]:
    """Paragraphs of a text file that holds one a line; empty lines are left out."""
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def released_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file in the layout of SlguSet.csv."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_sentences(path: Path) -> list[str]:
    """Return the distinct sentences of a file in the layout of SlguSet.csv, in order."""
    return list(dict.fromkeys(row["句子"] for row in released_rows(path)))


def is_held_out(text: str) -> bool:
    """Return True if a paragraph or sentence is never trained on: 3 % by a hash of the text, always the same ones."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % 1000 < HELD_OUT


def is_tuning(text: str) -> bool:
    """Return whether a paragraph or sentence is in the half on which the rules of mining were tuned."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


def split(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Texts to train on, and texts held out."""
    train: list[str] = []
    held: list[str] = []
    for text in texts:
        (held if is_held_out(text) else train).append(text)
    return train, held


def vocabulary(texts: Iterable[str], least: int = 3) -> list[str]:
    """Characters seen at least *least* times, most frequent first, after the special tokens.

    A character inside a Latin, digit or kana run is a token of its own, written
    ##x. All stems of the keyword pairs and the other forms are always there.
    """
    normalizer, words = BertNormalizer(lowercase=True), BertPreTokenizer()
    counts: Counter[str] = Counter()
    for text in texts:
        for word, _ in words.pre_tokenize_str(normalizer.normalize_str(text)):
            counts[word[0]] += 1
            counts.update("##" + character for character in word[1:])
    always = {character for pair in keyword_pairs() for character in pair.male + pair.female} | set(OTHER_FORMS)
    latin = "abcdefghijklmnopqrstuvwxyz0123456789"
    always |= set(latin) | {"##" + character for character in latin}
    ranked = sorted(counts | Counter(always), key=lambda token: (-counts[token], token))
    return [*SPECIAL, *(token for token in ranked if counts[token] >= least or token in always)]


def make_tokenizer(tokens: Sequence[str], folder: Path, longest: int = POSITIONS) -> BertTokenizer:
    """Write the files of a BERT tokenizer with this vocabulary to *folder* and load it."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = {token: i for i, token in enumerate(tokens)}
    tokenizer = BertTokenizer(vocab=ids, do_lower_case=True, model_max_length=longest)
    tokenizer.save_pretrained(folder)
    return tokenizer


def encode(tokenizer: BertTokenizer | PreTrainedTokenizerFast, texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each text, with nothing around it."""
    backend: Tokenizer = tokenizer.backend_tokenizer
    return [encoding.ids for encoding in backend.encode_batch_fast(list(texts), add_special_tokens=False)]


def windows(ids: Sequence[int], length: int, start: int = 0, shortest: int = 16) -> list[list[int]]:
    """Consecutive pieces of at most *length* tokens from *start* on; a last piece under *shortest* is dropped."""
    pieces = [list(ids[i : i + length]) for i in range(start, len(ids), length)]
    return [piece for piece in pieces if len(piece) >= min(shortest, len(ids))]


def epoch(
    paragraphs: Sequence[Sequence[int]], sentences: Sequence[Sequence[int]], rng: random.Random
) -> list[list[int]]:
    """Return the pieces of one pass, shuffled: paragraphs cut at new places into windows of three lengths, sentences
    whole."""
    pieces = [list(ids[: POSITIONS - 2]) for ids in sentences]
    for ids in paragraphs:
        length = rng.choice(LENGTHS)
        start = rng.randrange(length) if len(ids) > length else 0
        head = [list(ids[:start])] if start >= 16 else []
        pieces += head + windows(ids, length, start)
    rng.shuffle(pieces)
    return pieces


BOOKS = SHARED / "corpora" / "en_classics.txt"
SIZE = 8000  # tokens of either vocabulary, before the words that must be whole

# Words that measures put into a slot: each must be one token, also where novels of the nineteenth century lack it.
WHOLE = tuple(
    """he him his himself she her hers herself they them their theirs themself themselves xe xem xyr xyrs xemself
    xir xirs xirself man woman brother sister son daughter husband wife boyfriend girlfriend father mother uncle
    aunt dad mom boy girl king queen gentleman lady person people""".split()  # noqa: SIM905 - a list of words is read as words
)
END = "<|endoftext|>"


def read_books(path: Path = BOOKS) -> tuple[list[str], list[str]]:
    """Paragraphs to train on, and 3 % held out by a hash of their text."""
    return split(read_wiki(path))


def wordpieces(texts: Iterable[str], folder: Path, longest: int, size: int = SIZE) -> BertTokenizer:
    """An uncased WordPiece tokenizer in *folder*: *size* pieces learned from *texts*, and the words of `WHOLE`."""
    learner = BertWordPieceTokenizer(lowercase=True)
    learner.train_from_iterator(iter(texts), vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
    # In alphabetical order: the learner numbers pieces otherwise on every run.
    tokens = sorted((learner.get_vocab(with_added_tokens=True).keys() | set(WHOLE)) - set(SPECIAL))
    return make_tokenizer([*SPECIAL, *tokens], folder, longest)


def byte_pairs(texts: Iterable[str], folder: Path, longest: int, size: int = SIZE) -> PreTrainedTokenizerFast:
    """A cased byte-level BPE tokenizer in *folder* that puts END before a text, as a causal model wants it."""
    folder.mkdir(parents=True, exist_ok=True)
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=sorted(alphabet), show_progress=False
    )
    backend.train_from_iterator(texts, trainer)
    made: Any = PreTrainedTokenizerFast
    tokenizer: PreTrainedTokenizerFast = made(
        tokenizer_object=backend, bos_token=END, eos_token=END, model_max_length=longest
    )
    tokenizer.save_pretrained(folder)
    return tokenizer
