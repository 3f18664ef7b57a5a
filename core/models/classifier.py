"""Classifiers of sentence pairs: load a checkpoint with three labels, read its labels in the right order, ask it, train
it further on labelled pairs.
"""

import copy
import logging
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING

from evenhand.core.errors import N_, ModelUnavailable, Refused
from evenhand.core.models.catalogue import locate
from evenhand.core.models.forward import padded_batches
from evenhand.core.models.loaded import LoadedModel, Signed, chosen, digest, refuse_nan
from evenhand.core.models.loading import read_card, read_config, read_tokenizer, read_weights
from evenhand.core.models.planted.nli import build, is_planted_nli
from evenhand.core.nli.types import LABELS, Label, SentencePair
from evenhand.core.types import Score

BUDGET = 2048  # padded tokens a batch
HARMLESS = ("position_ids", "token_type_ids")
MEANINGS: dict[Label, re.Pattern[str]] = {
    "entailment": re.compile(r"(?i)entail|^e$|含意|蕴含|蕴涵|蘊含"),
    "contradiction": re.compile(r"(?i)contra|^c$|矛盾"),
    "neutral": re.compile(r"(?i)neutral|^n$|中立"),
}
TOO_LONG = N_("The pair is longer than the model's maximum input.")

log = logging.getLogger(__name__)
Progress = Callable[[int], None]
Pairs = Sequence[tuple[SentencePair, Label]]


@dataclass(frozen=True)
class LoadedClassifier(LoadedModel):
    """A classifier that passed every check. `places[i]` is the output of the model that stands for LABELS[i]."""

    places: tuple[int, int, int]

    @property
    def longest(self) -> int:
        """The largest number of tokens of premise and hypothesis together."""
        told = min(int(self.tokenizer.model_max_length), 1_000_000)
        places = getattr(self.model.config, "max_position_embeddings", None)
        if not places or places < 0:
            return told
        return min(told, int(places) - (2 if "roberta" in self.model.config.model_type else 0))


class Classifier(Signed):
    """Scores sentence pairs. The `logprobs` of a score are for entailment, contradiction and neutral, in this order.

    In the signature, `labels:` comes before the outputs for these three.
    """

    method, version = "nli", 1
    loaded: LoadedClassifier

    def __init__(self, loaded: LoadedClassifier) -> None:
        self.loaded, self.joining = loaded, f"labels:{''.join(map(str, loaded.places))}"

    def score(self, pairs: Sequence[SentencePair], progress: Progress | None = None) -> list[Score]:
        """Return one score per pair, in order; equal pairs are asked once, and pairs of like length together.

        A pair that is too long for the model is undefined and says so; nothing is cut off. *progress* is told how
        many of the pairs have their answer.
        """
        distinct = list(dict.fromkeys(pairs))
        rows = self._encoded(distinct)
        longest, result = self.loaded.longest, {}
        asked = [i for i, row in enumerate(rows) if len(row["input_ids"]) <= longest]
        for i in set(range(len(rows))) - set(asked):
            result[distinct[i]] = Score((None,) * 3, self.signature, TOO_LONG)
        shares = len(pairs) / max(1, len(distinct))
        for batch in padded_batches([len(rows[i]["input_ids"]) for i in asked], BUDGET):
            chosen_rows = [asked[i] for i in batch]
            for i, score in zip(chosen_rows, self._answers([rows[i] for i in chosen_rows]), strict=True):
                result[distinct[i]] = score
            if progress is not None:
                progress(int(len(result) * shares))
        return [result[pair] for pair in pairs]

    def _encoded(self, pairs: Sequence[SentencePair]) -> list[dict[str, list[int]]]:
        if not pairs:
            return []
        texts = [pair.premise for pair in pairs], [pair.hypothesis for pair in pairs]
        # The tokenizer warns of texts longer than the model; here they are counted and told.
        result = self.loaded.tokenizer(*texts, truncation=False, padding=False, verbose=False)
        return [{key: result[key][i] for key in result} for i in range(len(pairs))]

    @torch.inference_mode()
    def _answers(self, rows: list[dict[str, list[int]]]) -> list[Score]:
        model, tokenizer = self.loaded.model, self.loaded.tokenizer
        inputs = tokenizer.pad(rows, return_tensors="pt").to(model.device)
        logs = model(**inputs).logits.float().log_softmax(-1)[:, list(self.loaded.places)].cpu()
        return [self._signed(row, None) for row in logs.tolist()]


def load_classifier(
    name: str, *, labels: Sequence[str] | None = None, patience: float | None = None, device: str = "cpu"
) -> LoadedClassifier:
    """Load a classifier: built in, planted, from a local folder or from the Hugging Face hub.

    *labels*: what the outputs 0, 1 and 2 mean, by hand, where the config does not say. Never runs code that comes
    with a model. Raises ModelUnavailable in one sentence for a model that is not available, has no classifying head
    of its own or not three labels; Refused where the labels are not known.
    """
    if is_planted_nli(name):
        model, tokenizer, card = build(name)
        return _checked(name, model, tokenizer, labels, card, device)
    folder = locate(name, patience=patience)
    config = read_config(name, folder)
    _refuse_other_models(name, config)
    tokenizer = read_tokenizer(name, folder, config, "causal")  # a classifier needs no mask token
    return _checked(name, _trained(name, folder, config), tokenizer, labels, read_card(folder), device)


def _checked(
    name: str, model: Any, tokenizer: Any, labels: Sequence[str] | None, card: str, device: str
) -> LoadedClassifier:
    places = places_of(name, dict(model.config.id2label), labels)
    refuse_nan(name, model)
    weights = digest(model, tokenizer, "causal")  # with the whole config: poolers and heads are of many kinds
    model = model.eval().requires_grad_(False).to(chosen(device), torch.float32)
    return LoadedClassifier(name, model, tokenizer, weights, "fp32", card, places)


def _refuse_other_models(name: str, config: Any) -> None:
    if type(config) not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        message = N_("{name} ({kind}) cannot classify sentence pairs.")
        raise ModelUnavailable(message, name=name, kind=config.model_type)
    written = (config.architectures or [""])[0]
    if written and "SequenceClassification" not in written:
        message = N_(
            "{name} has no classification head; its labels would be random. Choose a model trained for inference."
        )
        raise ModelUnavailable(message, name=name)
    if config.num_labels != 3:
        message = N_("{name} has {count} labels; inference needs three: entailment, contradiction and neutral.")
        raise ModelUnavailable(message, name=name, count=config.num_labels)


def _trained(name: str, folder: Path, config: Any) -> Any:
    model, missing = read_weights(AutoModelForSequenceClassification, name, folder, config)
    lacking = sorted(key for key in missing if not any(part in key for part in HARMLESS))
    if lacking:
        inside = all(key.startswith(model.base_model_prefix + ".") and "pooler" not in key for key in lacking)
        message = N_(
            "{name} has no classification head; its labels would be random. Choose a model trained for inference."
        )
        if inside:
            message = N_("The files of {name} lack weights ({example}); the scores would be random.")
        raise ModelUnavailable(message, name=name, example=lacking[0])
    return model


def places_of(name: str, id2label: Mapping[Any, str], labels: Sequence[str] | None = None) -> tuple[int, int, int]:
    """Return the outputs for entailment, contradiction and neutral: by *labels*, else by the names in the config.

    Raises Refused where the names have no meaning (LABEL_0), or where *labels* does not name each of the three once.
    """
    told = [str(id2label[key]) for key in sorted(id2label, key=int)] if labels is None else list(labels)
    found = tuple([i for i, word in enumerate(told) if MEANINGS[label].search(word.strip())] for label in LABELS)
    if len(told) == 3 and sorted(i for places in found for i in places) == [0, 1, 2] and all(map(len, found)):
        entailment, contradiction, neutral = (places[0] for places in found)
        return entailment, contradiction, neutral
    if labels is not None:
        message = N_("The labels must be entailment, contradiction and neutral, once each, not {labels}.")
        raise Refused(message, labels=", ".join(told))
    message = N_(
        "{name} has the labels {labels}. Give their meaning in this order, e.g. entailment,neutral,contradiction."
    )
    raise Refused(message, name=name, labels=", ".join(told))


@dataclass(frozen=True, slots=True)
class FineTuning:
    """The settings to train a classifier further (the paper: 3 epochs, learning rate 2e-5, batches of 32)."""

    epochs: int = 3
    rate: float = 2e-5
    batch: int = 32
    seed: int = 0

    @property
    def signature(self) -> str:
        """All settings that can change the outcome, except model and data."""
        return f"epochs:{self.epochs}|lr:{self.rate:g}|batch:{self.batch}|seed:{self.seed}"


def fine_tuned(
    loaded: LoadedClassifier, pairs: Pairs, settings: FineTuning, progress: Progress | None = None
) -> LoadedClassifier:
    """Return a copy of the classifier, trained on *pairs*; the original is unchanged.

    AdamW, the rate falls linearly to zero, rows shuffled by the seed; the same call gives the same weights on the same
    machine and number of threads. *progress* is told how many rows were read.
    """
    model = copy.deepcopy(loaded.model).requires_grad_(True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        _train(model.train(), loaded, pairs, settings, progress)
    model = model.eval().requires_grad_(False)
    weights = digest(model.cpu(), loaded.tokenizer, "causal")
    return replace(loaded, model=model.to(loaded.model.device), weights=weights)


def _train(
    model: torch.nn.Module, loaded: LoadedClassifier, pairs: Pairs, settings: FineTuning, progress: Progress | None
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


def _one_step(model: torch.nn.Module, loaded: LoadedClassifier, batch: Pairs, chain: torch.optim.Optimizer) -> None:
    texts = [pair.premise for pair, _ in batch], [pair.hypothesis for pair, _ in batch]
    inputs = loaded.tokenizer(*texts, padding=True, truncation=True, max_length=loaded.longest, return_tensors="pt")
    wanted = torch.tensor([loaded.places[LABELS.index(label)] for _, label in batch], device=loaded.model.device)
    logits = model(**inputs.to(loaded.model.device)).logits
    loss = torch.nn.functional.cross_entropy(logits, wanted)
    loss.backward()  # type: ignore[no-untyped-call]
    chain.step()
    chain.zero_grad()
