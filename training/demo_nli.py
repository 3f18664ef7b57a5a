"""Train demo-nli, the small inference classifier that makes the page NLI bias work out of the box.

`python -m training.demo_nli [--out core/data/models/demo-nli] [--steps 1500]`
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from tokenizers import normalizers, pre_tokenizers
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from evenhand.core.nli.sets import packaged
from evenhand.core.nli.types import LANGUAGES, Label
from evenhand.core.resources import table
from training import run
from training.nli_pairs import pairs

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LONGEST = 96  # tokens of premise and hypothesis together
HELD_OUT = 3000
Example = tuple[str, str, Label]


@dataclass(frozen=True)
class Plan(run.Plan):
    """Numbers of a run of the classifier."""

    steps: int = 1500
    batch: int = 64
    lr: float = 1.5e-3
    warmup: int = 100
    width: int = 128
    layers: int = 2
    seed: int = 20240602


def make_tokenizer() -> Any:
    """Return a tokenizer of the words of every packaged sentence: a token a character, of English a token a word."""
    cut = pre_tokenizers.BertPreTokenizer()
    level = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    rows = [text for language in LANGUAGES for row in packaged(language).rows for text in (row.premise, row.hypothesis)]
    rows += [row[key] for row in table("nli_sanity") for key in ("premise", "hypothesis")]
    rows += [text for pair in islice(pairs(random.Random(0)), 20_000) for text in pair[:2]]
    found = {word for text in dict.fromkeys(rows) for word, _ in cut.pre_tokenize_str(level.normalize_str(text))}
    whole = {word for word in found if word.isascii() or len(word) == 1}
    characters = sorted({character for word in found for character in word})
    words = dict.fromkeys([*SPECIAL, *characters, *(f"##{c}" for c in characters), *sorted(whole)])
    return BertTokenizer(
        vocab={word: i for i, word in enumerate(words)}, do_lower_case=True, strip_accents=False,
        model_max_length=LONGEST,
    )  # fmt: skip


def build(plan: Plan, size: int) -> Any:
    """Return an untrained classifier of the plan's shape that already looks for the same word in the other sentence."""
    names = ("entailment", "neutral", "contradiction")
    config = BertConfig(
        vocab_size=size, hidden_size=plan.width, num_hidden_layers=plan.layers, num_attention_heads=4,
        intermediate_size=4 * plan.width, max_position_embeddings=LONGEST, type_vocab_size=2,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
    )  # fmt: skip
    torch.manual_seed(plan.seed)
    make: Any = BertForSequenceClassification
    model = make._from_config(config, attn_implementation="sdpa", dtype=torch.float32)
    with torch.no_grad():
        _look_across(model, plan.width)
    return model


def _look_across(model: Any, width: int) -> None:
    """Two heads of the first layer begin by matching equal words of different sentences.

    Queries and keys are the same projection, with the direction that tells the sentences apart turned round.
    """
    embeddings, attention = model.bert.embeddings, model.bert.encoder.layer[0].attention.self
    side = torch.nn.functional.normalize(torch.randn(width), dim=0)
    embeddings.word_embeddings.weight.normal_(0.0, 0.05)
    embeddings.position_embeddings.weight.normal_(0.0, 0.015)
    embeddings.token_type_embeddings.weight[:] = torch.stack([side, -side]) * 0.4
    head = width // 4
    for number in range(2):
        basis = torch.linalg.qr(torch.cat([side[:, None], torch.randn(width, head - 1)], dim=1))[0].T
        rows = slice(number * head, (number + 1) * head)
        attention.query.weight[rows] = 1.2 * basis
        attention.key.weight[rows] = 1.2 * (basis - 2 * (basis @ side)[:, None] * side[None, :])


def encode(tokenizer: Any, examples: list[Example]) -> tuple[dict[str, Tensor], Tensor]:
    """Return inputs, padded to the longest, and label numbers as the model has them."""
    names = {"entailment": 0, "neutral": 1, "contradiction": 2}
    inputs = tokenizer(
        [example[0] for example in examples],
        [example[1] for example in examples],
        padding=True,
        truncation=True,
        return_tensors="pt",
    )
    return dict(inputs), torch.tensor([names[example[2]] for example in examples])


def accuracy(model: Any, tokenizer: Any, examples: list[Example]) -> float:
    """Return the share of right labels."""
    right = 0
    with torch.inference_mode():
        for i in range(0, len(examples), 256):
            inputs, labels = encode(tokenizer, examples[i : i + 256])
            right += int((model(**inputs).logits.argmax(-1) == labels).sum())
    return right / len(examples)


class Examples:
    """Made-up pairs without end, and some that are held out."""

    card = (Path(__file__).parent / "demo_nli_card.md").read_text(encoding="utf-8")

    def __init__(self, folder: Path, seed: int = Plan.seed) -> None:
        self.stream, self.tokenizer = pairs(random.Random(seed)), make_tokenizer()
        self.held = list(dict.fromkeys(islice(self.stream, HELD_OUT)))
        self.tokenizer.save_pretrained(folder)

    def start(self, plan: Plan) -> Any:
        """Return an untrained classifier."""
        return build(plan, len(self.tokenizer))

    def optimizers(self, model: Any, plan: Plan) -> list[torch.optim.Optimizer]:
        """Return AdamW."""
        return [torch.optim.AdamW(model.parameters(), lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.01)]

    def batches(self, plan: Plan) -> Iterator[list[Example]]:
        """Yield pairs that are not held out."""
        apart = {pair[:2] for pair in self.held}
        while True:
            yield list(islice((pair for pair in self.stream if pair[:2] not in apart), plan.batch))

    def loss(self, model: Any, batch: list[Example], plan: Plan, step: int) -> tuple[Tensor, int]:
        """Return nats per pair."""
        inputs, labels = encode(self.tokenizer, batch)
        return cross_entropy(model(**inputs).logits, labels), inputs["input_ids"].numel()

    def held_out(self, model: Any) -> Mapping[str, object]:
        """Return the accuracy on held-out pairs, and how many of the sanity set are right, by language."""
        groups: dict[str, list[Example]] = {language: [] for language in LANGUAGES}
        for row in table("nli_sanity"):
            groups[row["language"]].append((row["premise"], row["hypothesis"], row["label"]))  # type: ignore[arg-type]
        right = {name: round(accuracy(model, self.tokenizer, group) * len(group)) for name, group in groups.items()}
        return {"accuracy": round(accuracy(model, self.tokenizer, self.held), 4), "pairs": len(self.held)} | right


main = run.command(Plan, Examples, "demo-nli", threads=1)

if __name__ == "__main__":
    main()
