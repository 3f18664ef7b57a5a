"""Train demo-nli, the small inference classifier that makes the page NLI bias work out of the box.

`python -m training.demo_nli [--out core/data/models/demo-nli] [--steps 1500]`
"""

import json
import logging
import random
import time
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click
import torch
from tokenizers import normalizers, pre_tokenizers
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from evenhand.core.nli.sets import packaged
from evenhand.core.nli.types import LABELS, LANGUAGES, Label
from evenhand.core.resources import MODELS, table
from training.nli_pairs import pairs

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LONGEST = 96  # tokens of premise and hypothesis together
HELD_OUT = 3000
CARD = Path(__file__).parent / "demo_nli_card.md"
Example = tuple[str, str, Label]
log = logging.getLogger("training")


@dataclass(frozen=True)
class Plan:
    """Numbers of a run. The steps, not the clock, end it."""

    steps: int = 1500
    batch: int = 64
    lr: float = 1.5e-3  # peak
    warmup: int = 100
    width: int = 128
    layers: int = 2
    seed: int = 20240602


def make_tokenizer() -> Any:
    """One token a character of Chinese and Japanese, one a word of English; the words of every packaged sentence."""
    cut = pre_tokenizers.BertPreTokenizer()
    level = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    rows = [text for language in LANGUAGES for row in packaged(language).rows for text in (row.premise, row.hypothesis)]
    rows += [row[key] for row in table("nli_sanity") for key in ("premise", "hypothesis")]
    rows += [text for one in islice(pairs(random.Random(0)), 20_000) for text in one[:2]]
    found = {word for text in dict.fromkeys(rows) for word, _ in cut.pre_tokenize_str(level.normalize_str(text))}
    whole = {word for word in found if word.isascii() or len(word) == 1}
    characters = sorted({character for word in found for character in word})
    words = dict.fromkeys([*SPECIAL, *characters, *(f"##{c}" for c in characters), *sorted(whole)])
    return BertTokenizer(
        vocab={word: i for i, word in enumerate(words)}, do_lower_case=True, strip_accents=False,
        model_max_length=LONGEST,
    )  # fmt: skip


def build(plan: Plan, size: int) -> Any:
    """An untrained classifier of the plan's shape that already looks for the same word in the other sentence."""
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
    """Inputs, padded to the longest, and label numbers as the model has them."""
    names = {"entailment": 0, "neutral": 1, "contradiction": 2}
    inputs = tokenizer(
        [one[0] for one in examples], [one[1] for one in examples], padding=True, truncation=True, return_tensors="pt"
    )
    return dict(inputs), torch.tensor([names[one[2]] for one in examples])


def accuracy(model: Any, tokenizer: Any, examples: list[Example]) -> float:
    """Share of right labels."""
    right = 0
    with torch.inference_mode():
        for i in range(0, len(examples), 256):
            inputs, labels = encode(tokenizer, examples[i : i + 256])
            right += int((model(**inputs).logits.argmax(-1) == labels).sum())
    return right / len(examples)


def sanity() -> list[Example]:
    """The packaged pairs with an obvious answer; none of them is trained on."""
    return [(r["premise"], r["hypothesis"], r["label"]) for r in table("nli_sanity")]  # type: ignore[misc]


def train(plan: Plan, folder: Path) -> dict[str, Any]:
    """Train for the plan's steps and write the folder; returns what the card tells."""
    rng = random.Random(plan.seed)
    stream, tokenizer = pairs(rng), make_tokenizer()
    held_out = list(dict.fromkeys(islice(stream, HELD_OUT)))
    apart = {one[:2] for one in held_out}
    model = build(plan, len(tokenizer))
    chain = torch.optim.AdamW(model.parameters(), lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.01)
    started, mean = time.monotonic(), 0.0
    for step in range(1, plan.steps + 1):
        rate = min(step / plan.warmup, (plan.steps - step + 1) / (plan.steps - plan.warmup + 1))
        for settings in chain.param_groups:
            settings["lr"] = plan.lr * rate
        batch = list(islice((one for one in stream if one[:2] not in apart), plan.batch))
        inputs, labels = encode(tokenizer, batch)
        loss = cross_entropy(model(**inputs).logits, labels)
        loss.backward()  # type: ignore[no-untyped-call]
        chain.step()
        chain.zero_grad()
        mean += (float(loss.detach()) - mean) / min(step, 100)
        if step % 100 == 0:
            log.info("step %d loss %.3f, %.1f min", step, mean, (time.monotonic() - started) / 60)
        if step % 500 == 0:
            log.info("held out %.3f sanity %.3f", *(accuracy(model, tokenizer, e) for e in (held_out, sanity())))
    minutes = (time.monotonic() - started) / 60
    return _save(model, tokenizer, folder, held_out, {"plan": asdict(plan), "minutes": round(minutes, 1)})


def _save(model: Any, tokenizer: Any, folder: Path, held_out: list[Example], facts: dict[str, Any]) -> dict[str, Any]:
    """Weights as fp16, tokenizer, card; figures are measured on the weights as they are stored."""
    folder.mkdir(parents=True, exist_ok=True)
    model.eval().half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    stored = model.float()
    facts |= {"parameters": sum(p.numel() for p in model.parameters()), "labels": list(LABELS)}
    facts["held_out"] = {"accuracy": round(accuracy(stored, tokenizer, held_out), 4), "pairs": len(held_out)}
    found = [(row["language"], one) for row, one in zip(table("nli_sanity"), sanity(), strict=True)]
    groups = {language: [one for name, one in found if name == language] for language in LANGUAGES}
    facts["sanity"] = {name: round(accuracy(stored, tokenizer, group) * len(group)) for name, group in groups.items()}
    (folder / "training.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    card = CARD.read_text(encoding="utf-8").format(**facts, **facts["plan"])
    (folder / "README.md").write_text(card, encoding="utf-8")
    return facts


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=MODELS / "demo-nli")
@click.option("--steps", type=int, default=Plan.steps, show_default=True)
@click.option("--threads", type=int, default=1, show_default=True)
def main(out: Path, steps: int, threads: int) -> None:
    """Train demo-nli and write it to a folder in Hugging Face layout."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(threads)
    click.echo(json.dumps(train(Plan(steps=steps), out), ensure_ascii=False))


if __name__ == "__main__":
    main()
