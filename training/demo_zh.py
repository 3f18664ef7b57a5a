"""Train demo-zh, the small Chinese character model that makes live probabilities work out of the box.

`python -m training.demo_zh [--wiki PATH] [--sentences PATH] [--out core/data/models/demo-zh]`
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
from training import masking, zh_corpus
from training.masked_run import Plan, train


class Text:
    """The corpora as token ids: what is trained on and what is held out."""

    card = (Path(__file__).parent / "demo_zh_card.md").read_text(encoding="utf-8")

    def __init__(self, wiki: Path, sentences: Path, folder: Path) -> None:
        wiki_train, wiki_held = zh_corpus.split(zh_corpus.read_wiki(wiki))
        train, held = zh_corpus.split(zh_corpus.read_sentences(sentences))
        self.tokenizer = zh_corpus.make_tokenizer(zh_corpus.vocabulary(wiki_train + train), folder)
        self.layout = masking.Layout(self.tokenizer)
        self.paragraphs, self.sentences = (zh_corpus.encode(self.tokenizer, part) for part in (wiki_train, train))
        paragraphs_held, self.sentences_held = (zh_corpus.encode(self.tokenizer, part) for part in (wiki_held, held))
        self.windows_held = [window for ids in paragraphs_held for window in zh_corpus.windows(ids, 126)]
        if not self.windows_held or not self.sentences_held:
            raise BadFile("{wiki} and {sentences} hold too little text: nothing of one is held out.",
                          wiki=wiki.name, sentences=sentences.name)  # fmt: skip

    def batches(self, plan: Plan) -> Iterator[list[list[int]]]:
        """Batches without end, epoch after epoch, the same for the same seed."""
        rng = random.Random(plan.seed)
        while True:
            yield from masking.batches(zh_corpus.epoch(self.paragraphs, self.sentences, rng), plan.budget, rng)

    def held_out(self, model: Any) -> dict[str, dict[str, float]]:
        """Masked accuracy on the text that was held out: of the encyclopedia, of the sentences, of both."""
        wiki = masking.accuracy(model, self.windows_held, self.layout)
        sentences = masking.accuracy(model, self.sentences_held, self.layout)
        pooled = (wiki[0] + sentences[0], wiki[1] + sentences[1])
        named = {"wiki": wiki, "sentences": sentences, "pooled": pooled}
        return {name: {"accuracy": round(right / n, 4), "tokens": n} for name, (right, n) in named.items()}


@click.command()
@click.option("--wiki", type=click.Path(exists=True, path_type=Path), default=zh_corpus.WIKI, help="a paragraph a line")
@click.option("--sentences", type=click.Path(exists=True, path_type=Path), default=zh_corpus.SENTENCES)
@click.option("--out", type=click.Path(path_type=Path), default=MODELS / "demo-zh")
@click.option("--steps", type=int, default=Plan.steps, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--resume", is_flag=True, help="go on from the last saved weights")
def main(wiki: Path, sentences: Path, out: Path, steps: int, threads: int, resume: bool) -> None:
    """Train demo-zh and write it to a folder in Hugging Face layout."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(threads)
    facts = train(Plan(steps=steps), Text(wiki, sentences, out), out, resume=resume)
    click.echo(json.dumps(facts, ensure_ascii=False))


if __name__ == "__main__":
    main()
