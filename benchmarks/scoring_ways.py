"""Ways to get Bias_c of many sentences, each as a generator that can be stopped between batches; see scoring.py.

A way yields what it has finished: pairs of sentence number and Bias_c (log10), None where it cannot say.
"""

import importlib.util
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast, pipeline  # type: ignore[attr-defined]

from evenhand.core.models import Precision
from evenhand.core.models.loaded import DTYPES
from evenhand.core.resources import MODELS
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.text.keywords import probe as probe_of
from evenhand.core.text.keywords import repair
from evenhand.core.types import MaskedSentence, Scorer
from training.zh_corpus import released_rows

VOCABULARY = 21_128  # as bert-base-chinese
BATCH = 32
CHUNK, CHUNK_OF_CARD = 250, 1_000  # sentences that the engine gets at once, so that the others can run in between
LN10 = math.log(10)

Finished = Iterator[list[tuple[int, float | None]]]


def read_probes(path: Path, count: int) -> list[MaskedSentence]:
    """Return sentences evenly spaced over the file, with their spans repaired."""
    rows, probes = released_rows(path), []
    for row in rows[:: max(1, len(rows) // count)][:count]:
        start, end = json.loads(row["关键词位置"])
        candidate, _ = repair(row["句子"], start, end, row["原始关键词"], row["对立关键词"])
        probes.append(probe_of(candidate))
    return probes


def base_sized(folder: Path) -> None:
    """Write a BERT of the size of bert-base-chinese with random weights, and a tokenizer of demo-zh's characters.

    Weights are drawn twice as wide as usual, so that Bias_c spreads as that of a trained model does.
    """
    words = tokens()
    words += [f"[unused{i}]" for i in range(VOCABULARY - len(words))]
    BertTokenizerFast(vocab={word: i for i, word in enumerate(words)}).save_pretrained(folder)
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig(vocab_size=VOCABULARY, initializer_range=0.04)).save_pretrained(folder)


def tokens() -> list[str]:
    """The vocabulary of demo-zh in the order of its ids."""
    vocabulary = BertTokenizerFast.from_pretrained(MODELS / "demo-zh").get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


@dataclass(frozen=True, slots=True)
class Plain:
    """A model and its tokenizer as anyone loads them."""

    model: Any
    tokenizer: Any

    @classmethod
    def load(cls, folder: Path, device: str = "cpu") -> "Plain":
        """With SDPA, as transformers does by default."""
        model: Any = BertForMaskedLM.from_pretrained(folder, attn_implementation="sdpa").eval().to(device)
        return cls(model.requires_grad_(False), BertTokenizerFast.from_pretrained(folder))

    def masked(self, probe: MaskedSentence) -> str:
        """The text with one mask per character of the slot."""
        masks = self.tokenizer.mask_token * len(probe.options[0])
        return probe.text[: probe.start] + masks + probe.text[probe.end :]

    def ids(self, probe: MaskedSentence) -> list[list[int]]:
        """Per option, the ids of its characters."""
        return [self.tokenizer.convert_tokens_to_ids(list(option)) for option in probe.options]


@torch.inference_mode()
def papers_loop(plain: Plain, probes: Sequence[MaskedSentence]) -> Finished:
    """One sentence at a time, logits of every token, softmax at the masks, product of the characters."""
    for number, probe in enumerate(probes):
        inputs = plain.tokenizer(plain.masked(probe), return_tensors="pt").to(plain.model.device)
        logits = plain.model(**inputs).logits[0]
        places = (inputs.input_ids[0] == plain.tokenizer.mask_token_id).nonzero()[:, 0]
        found = torch.log_softmax(logits[places], dim=-1)
        male, female = (float(found[range(len(ids)), ids].sum()) for ids in plain.ids(probe))
        yield [(number, (male - female) / LN10)]


def fill_mask_pipeline(plain: Plain, probes: Sequence[MaskedSentence]) -> Finished:
    """`pipeline("fill-mask")` at batch 32; its targets are one set per call, so sentences are grouped by pair.

    Each target must be one token, so the characters are passed, and the probabilities of two masks multiplied.
    """
    ask = pipeline("fill-mask", model=plain.model, tokenizer=plain.tokenizer, device=plain.model.device)
    by_pair: dict[tuple[str, ...], list[int]] = {}
    for number, probe in enumerate(probes):
        by_pair.setdefault(probe.options, []).append(number)
    for options, numbers in by_pair.items():
        targets = sorted(set("".join(options)))
        for start in range(0, len(numbers), BATCH):
            group = numbers[start : start + BATCH]
            texts = [plain.masked(probes[i]) for i in group]
            answers = ask(texts, targets=targets, top_k=len(targets), batch_size=BATCH)
            answers = answers if len(group) > 1 else [answers]  # a list of one comes back without its list
            yield [(i, _product(plain, probes[i], answer)) for i, answer in zip(group, answers, strict=True)]


def _product(plain: Plain, probe: MaskedSentence, answer: Any) -> float:
    masks = answer if isinstance(answer[0], list) else [answer]
    tables = [{one["token"]: math.log(one["score"]) for one in mask} for mask in masks]
    male, female = (sum(table[i] for table, i in zip(tables, ids, strict=True)) for ids in plain.ids(probe))
    return (male - female) / LN10


def minicons_cloze(plain: Plain, probes: Sequence[MaskedSentence]) -> Finished:
    """minicons: the word must stand in the sentence, so a pair needs two passes; characters are masked one by one.

    So a word of two characters is another quantity than with two masks. A word that occurs twice shifts the
    answers of the sentences after it; such sentences are left out.
    """
    from minicons.scorer import MaskedLMScorer

    ask = MaskedLMScorer(plain.model, str(plain.model.device), tokenizer=plain.tokenizer)
    once = [i for i, probe in enumerate(probes) if _once(plain, probe)]
    for start in range(0, len(once), BATCH):
        group = once[start : start + BATCH]
        sides = []
        for side in (0, 1):
            pairs = [(_with_option(probes[i], probes[i].options[side]), probes[i].options[side]) for i in group]
            sides.append([float(value) for value in ask.cloze(pairs, PLL_metric="original")])
        yield [(i, (male - female) / LN10) for i, male, female in zip(group, *sides, strict=True)]


def _with_option(probe: MaskedSentence, option: str) -> str:
    return probe.text[: probe.start] + option + probe.text[probe.end :]


def _once(plain: Plain, probe: MaskedSentence) -> bool:
    """Whether each word stands in its sentence exactly once, in tokens, and not at the very end."""
    for option, wanted in zip(probe.options, plain.ids(probe), strict=True):
        ids = plain.tokenizer(_with_option(probe, option)).input_ids
        if sum(ids[i : i + len(wanted)] == wanted for i in range(len(ids) - len(wanted))) != 1:
            return False
    return True


def has_minicons() -> bool:
    """Whether the package is installed; it is no requirement of the app."""
    return importlib.util.find_spec("minicons") is not None


def engine(scorer: Scorer, probes: Sequence[MaskedSentence], chunk: int = CHUNK) -> Finished:
    """This app's scorer, fed as a run feeds it: like lengths together."""
    order = sorted(range(len(probes)), key=lambda i: len(probes[i].text))
    for start in range(0, len(order), chunk):
        group = order[start : start + chunk]
        scores = scorer.score([probes[i] for i in group])
        yield [(i, bias_of(score)) for i, score in zip(group, scores, strict=True)]


@dataclass(slots=True)
class MatrixProducts:
    """The matrix products of one layer at the tokens of a batch, nothing else: what the machine can do so."""

    tokens: int = 2048
    device: str = "cpu"
    precision: Precision = "fp32"
    done: float = 0.0  # floating-point operations

    @torch.inference_mode()
    def run(self, config: Any, times: int) -> Finished:
        """Query, key and value as one product, output, up, down; *times* times."""
        wide, width = config.intermediate_size, config.hidden_size
        shapes = [(width, 3 * width), (width, width), (width, wide), (wide, width)]
        like: Any = {"device": self.device, "dtype": DTYPES[self.precision]}
        given = [
            (torch.randn(self.tokens, k, **like), torch.randn(n, k, **like), torch.empty(self.tokens, n, **like))
            for k, n in shapes
        ]
        for number in range(times):
            for rows, weight, out in given:
                torch.mm(rows, weight.t(), out=out)
                self.done += 2.0 * self.tokens * weight.numel()
            yield [(number, None)]


def operations(config: Any, lengths: Sequence[int], masks: Sequence[int]) -> float:
    """Floating-point operations that the questions need: matrix products and attention, the last layer at masks only.

    2 per multiplication and addition; *lengths* in tokens with [CLS] and [SEP].
    """
    width, wide, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    layer = 2 * (4 * width * width + 2 * width * wide)  # per token
    total = 0.0
    for length, places in zip(lengths, masks, strict=True):
        total += (layers - 1) * (length * layer + 4 * length * length * width)
        total += length * 4 * width * width + places * (layer - 4 * width * width + 4 * length * width)
        total += places * 2 * (width * width + width * config.vocab_size)
    return total
