"""The text that demo-en and demo-en-causal are trained on, what is held out of it, and their vocabularies."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import BertWordPieceTokenizer, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import BertTokenizer, PreTrainedTokenizerFast

from evenhand.core.resources import ROOT
from training.zh_corpus import SPECIAL, make_tokenizer, read_wiki, split

BOOKS = ROOT.parent / "shared" / "data" / "corpora" / "en_classics.txt"
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
