"""Train demo-en, the small English word-piece model that associations are measured with out of the box.

`python -m training.demo_en [--books PATH] [--out core/data/models/demo-en]`
"""

import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import torch

from evenhand.core.errors import BadFile
from evenhand.core.resources import MODELS
from training import en_corpus, masking, zh_corpus
from training.masked_run import POSITIONS, Plan, train


class Text:
    """Novels as token ids: what is trained on and what is held out."""

    card = (Path(__file__).parent / "demo_en_card.md").read_text(encoding="utf-8")

    def __init__(self, books: Path, folder: Path, size: int = en_corpus.SIZE) -> None:
        train_on, held = en_corpus.read_books(books)
        if not train_on or not held:
            raise BadFile("{file} holds too little text: nothing of it is held out.", file=books.name)
        self.tokenizer = en_corpus.wordpieces(train_on, folder, POSITIONS, size)
        self.layout = masking.Layout(self.tokenizer)
        self.paragraphs, paragraphs_held = (zh_corpus.encode(self.tokenizer, part) for part in (train_on, held))
        self.sentences: list[list[int]] = []
        self.windows_held = [window for ids in paragraphs_held for window in zh_corpus.windows(ids, POSITIONS - 2)]

    def batches(self, plan: Plan) -> Iterator[list[list[int]]]:
        """Batches without end, epoch after epoch, the same for the same seed."""
        rng = random.Random(plan.seed)
        while True:
            yield from masking.batches(zh_corpus.epoch(self.paragraphs, [], rng), plan.budget, rng)

    def held_out(self, model: Any) -> dict[str, dict[str, float]]:
        """Masked accuracy on the paragraphs that were held out."""
        right, tokens = masking.accuracy(model, self.windows_held[:600], self.layout)
        return {"books": {"accuracy": round(right / tokens, 4), "tokens": tokens}}


@click.command()
@click.option(
    "--books", type=click.Path(exists=True, path_type=Path), default=en_corpus.BOOKS, help="a paragraph a line"
)
@click.option("--out", type=click.Path(path_type=Path), default=MODELS / "demo-en")
@click.option("--steps", type=int, default=Plan.steps, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--resume", is_flag=True, help="go on from the last saved weights")
def main(books: Path, out: Path, steps: int, threads: int, resume: bool) -> None:
    """Train demo-en and write it to a folder in Hugging Face layout."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(threads)
    facts = train(Plan(steps=steps), Text(books, out), out, resume=resume)
    click.echo(json.dumps(facts, ensure_ascii=False))


if __name__ == "__main__":
    main()
