"""Training a classifier further on labelled pairs: what the comparison of measures over bias rates does."""

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from evenhand.core.models.classifier import LoadedClassifier
from evenhand.core.models.loaded import digest
from evenhand.core.nli.types import LABELS, Label, SentencePair


@dataclass(frozen=True, slots=True)
class FineTuning:
    """How a classifier is trained further (the paper: 3 epochs, learning rate 2e-5, batches of 32)."""

    epochs: int = 3
    rate: float = 2e-5
    batch: int = 32
    seed: int = 0

    @property
    def signature(self) -> str:
        """Everything that can change the outcome, beside model and data."""
        return f"epochs:{self.epochs}|lr:{self.rate:g}|batch:{self.batch}|seed:{self.seed}"


def fine_tuned(
    loaded: LoadedClassifier,
    pairs: Sequence[tuple[SentencePair, Label]],
    settings: FineTuning,
    progress: Callable[[int], None] | None = None,
) -> LoadedClassifier:
    """A copy of the classifier, trained on *pairs*; the original is unchanged.

    AdamW, the rate falls linearly to zero, rows shuffled by the seed; the same call gives the same weights on the same
    machine and number of threads. *progress* is told how many rows were read.
    """
    model = copy.deepcopy(loaded.model).requires_grad_(True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        _train(model.train(), loaded, pairs, settings, progress)
    model = model.eval().requires_grad_(False)
    weights = digest(model.cpu(), loaded.tokenizer, "causal")
    return LoadedClassifier(
        loaded.name, model.to(loaded.model.device), loaded.tokenizer, weights, loaded.places, loaded.card
    )


def _train(
    model: torch.nn.Module,
    loaded: LoadedClassifier,
    pairs: Sequence[tuple[SentencePair, Label]],
    settings: FineTuning,
    progress: Callable[[int], None] | None,
) -> None:
    shuffle = random.Random(settings.seed)  # noqa: S311  order of rows, no secret
    chain = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=0.01)
    steps = settings.epochs * -(-len(pairs) // settings.batch)
    step, read = 0, 0
    for _epoch in range(settings.epochs):
        order = list(range(len(pairs)))
        shuffle.shuffle(order)
        for i in range(0, len(order), settings.batch):
            batch = [pairs[k] for k in order[i : i + settings.batch]]
            for group in chain.param_groups:
                group["lr"] = settings.rate * (1 - step / steps)
            _one_step(model, loaded, batch, chain)
            step, read = step + 1, read + len(batch)
            if progress is not None:
                progress(read)


def _one_step(
    model: torch.nn.Module,
    loaded: LoadedClassifier,
    batch: list[tuple[SentencePair, Label]],
    chain: torch.optim.Optimizer,
) -> None:
    texts = [pair.premise for pair, _ in batch], [pair.hypothesis for pair, _ in batch]
    inputs = loaded.tokenizer(*texts, padding=True, truncation=True, max_length=loaded.longest, return_tensors="pt")
    wanted = torch.tensor([loaded.places[LABELS.index(label)] for _, label in batch], device=loaded.model.device)
    logits = model(**inputs.to(loaded.model.device)).logits
    loss = torch.nn.functional.cross_entropy(logits, wanted)
    loss.backward()  # type: ignore[no-untyped-call]
    chain.step()
    chain.zero_grad()
