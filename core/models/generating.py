"""Causal models that write: sampling with a seed per text, so that nothing else changes the text.

As in document 004 (docs/generation.md#generating-texts): temperature, then the `top_k` most likely tokens, then
the fewest of those that have `top_p` of their probability (Holtzman et al. 2020), then one of them at random. The
default is exactly 50 tokens without an end mark. Random numbers are drawn per text on the processor, from its own
generator, before the first token: neither the batch, nor the order, nor the device changes them. A batch can change
only the last digit of a probability, and so, rarely, a token; a run therefore always makes the same batches
(core/generating).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from evenhand.core.errors import N_, ModelUnavailable, Refused
from evenhand.core.models import LEAST_FACTOR, Precision, Sampling
from evenhand.core.models.loaded import LOOKS_AHEAD, LoadedModel, use_threads
from evenhand.core.models.loading import load_causal
from evenhand.core.models.probe_tokens import longest_input
from evenhand.core.models.whole_sentences import SentenceReader
from evenhand.core.types import Signature

METHOD, VERSION = "sampling", 1
NO_WRITER = N_(
    "{name} ({kind}) is not a causal (left-to-right) model, so it cannot generate texts. Use a causal"
    " model, such as demo-en-causal."
)
NO_START = N_("The context is empty, and this model's tokenizer adds no start token: there is nothing to continue.")
TOO_LONG = N_("The context has {found} tokens; {more} new tokens would exceed the model's limit of {longest}.")
ALIKE = 1e-3  # of a logit; a model that ignores a mask is far off

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A context to continue, and the seed (64 bits) of this one text."""

    context: str
    seed: int


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a model after a context, its number of tokens, and whether it ended by itself."""

    completion: str
    tokens: int
    ended: bool


class Generator:
    """Writes with one loaded causal model. Not for several threads at once."""

    def __init__(self, loaded: LoadedModel, how: Sampling | None = None, *, cached: bool | None = None) -> None:
        """Prepare to generate texts with a model.

        *cached*: keep the keys and values of earlier tokens; None tests whether the model can.
        """
        self.loaded, self.how = loaded, how or Sampling()
        self._model: Any = loaded.model
        config = self._model.config
        self.longest = longest_input(loaded.tokenizer, config)
        self._reader = SentenceReader(loaded.tokenizer, self.longest, opening=True)
        self._ends = sorted(_end_marks(self._model, loaded.tokenizer))
        own = getattr(getattr(self._model, "generation_config", None), "temperature", None)
        self.temperature = float(self.how.temperature or own or 1.0)
        self.cached = self._can_cache() if cached is None else cached

    @property
    def signature(self) -> str:
        """`sampling|model|weights|k50,p0.95,t1,n50|precision|v1`: everything but the seed that decides a text."""
        how = self.how
        settings = f"k{how.top_k},p{how.top_p:g},t{self.temperature:g},n{how.tokens}{',stop' if how.stop else ''}"
        settings += how.debias_signature
        return str(Signature(METHOD, self.loaded.name, self.loaded.weights, settings, self.loaded.precision, VERSION))

    def refusal(self, context: str) -> Refused | None:
        """Return why nothing can be written after *context*; None where something can."""
        result = len(self._ids(self.how.debias + context))
        if not result:
            return Refused(NO_START)
        if result + self.how.tokens > self.longest:
            return Refused(TOO_LONG, found=result, more=self.how.tokens, longest=self.longest)
        return None

    def write(self, prompts: Sequence[Prompt]) -> list[Text]:
        """Return one text per prompt, in order; all of them in one batch. Raises Refused as `refusal` says."""
        rows = []
        for prompt in prompts:
            if (why := self.refusal(prompt.context)) is not None:
                raise why
            rows.append(self._ids(prompt.context))
        if not rows:
            return []
        asking = [self._ids(self.how.debias + prompt.context) for prompt in prompts] if self.how.debias else None
        made = (self._with_cache if self.cached else self._without)(rows, asking, _numbers(prompts, self.how.tokens))
        return [self._text(row, new) for row, new in zip(rows, made, strict=True)]

    def _ids(self, context: str) -> list[int]:
        return [*self._reader.before, *self._reader.encode(context)]

    def _text(self, row: list[int], new: list[int]) -> Text:
        end = next((place for place, token in enumerate(new) if token in self._ends), None) if self.how.stop else None
        kept = new if end is None else new[:end]
        # Some tokenizers drop the space at the start of what they decode: decode with the context, then cut it off.
        whole, before = self._decoded(row + kept), self._decoded(row)
        written = whole.removeprefix(before) if whole.startswith(before) else self._decoded(kept)
        return Text(written.rstrip("\ufffd"), len(kept), end is not None)  # the limit may fall inside a character

    def _decoded(self, ids: list[int]) -> str:
        return str(self.loaded.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    @torch.inference_mode()
    def _with_cache(self, rows: list[list[int]], asking: list[list[int]] | None, numbers: Tensor) -> list[list[int]]:
        """Write with a cache: contexts that several texts continue are read once, then one new token at a time."""
        plain, asked = _Reading(self, rows), _Reading(self, asking) if asking else None
        made: list[Tensor] = []
        over = torch.zeros(len(rows), dtype=torch.bool, device=plain.logits.device)
        for step in range(self.how.tokens):
            logits = self._without_bias(plain.logits, asked.logits) if asked else plain.logits
            made.append(self._chosen(logits, numbers[:, step]))
            over |= torch.isin(made[-1], torch.tensor(self._ends, device=logits.device))
            if step + 1 == self.how.tokens or (self.how.stop and bool(over.all())):
                break
            for reading in (plain, asked):
                if reading:
                    reading.read(made[-1])
        return torch.stack(made, dim=1).tolist()

    def _without_bias(self, logits: Tensor, asked: Tensor) -> Tensor:
        """Return the logits, scaled down for tokens that the biased prompt makes more likely: [rows, vocabulary]."""
        gain = torch.softmax(asked.double(), dim=-1) - torch.softmax(logits.double(), dim=-1)
        factor = torch.exp(-self.how.decay * gain.clamp(min=0)).clamp(min=LEAST_FACTOR)
        return logits + factor.log().to(logits.dtype)

    def _logits(self, ids: Tensor, seen: Tensor, cache: Any) -> Tensor:
        """Return the logits at the last place of each row: [rows, vocabulary]."""
        positions = (seen.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        # Where nothing is padded, no mask: the faster way through attention.
        mask = None if bool(seen.all()) else seen
        inputs = {"input_ids": ids, "attention_mask": mask, "position_ids": positions, "past_key_values": cache}
        result: Tensor = self._model(**inputs, use_cache=True, logits_to_keep=1).logits[:, -1]
        return result.float()

    @torch.inference_mode()
    def _without(self, rows: list[list[int]], asking: list[list[int]] | None, numbers: Tensor) -> list[list[int]]:
        """Generate without a cache: read the whole text again for every token, rows of one length together."""
        made: list[list[int]] = [[] for _ in rows]
        lengths = [(len(row), len(other)) for row, other in zip(rows, asking or [[]] * len(rows), strict=True)]
        for length in sorted(set(lengths)):
            places = [place for place, row in enumerate(lengths) if row == length]
            kinds = [[some[place] for place in places] for some in (rows, asking) if some]
            ids = [torch.tensor(kind, device=self._model.device) for kind in kinds]
            for step in range(self.how.tokens):
                found = [self._model(input_ids=id_, use_cache=False).logits[:, -1].float() for id_ in ids]
                logits = self._without_bias(*found) if asking else found[0]
                chosen = self._chosen(logits, numbers[places, step])
                ids = [torch.cat([id_, chosen[:, None]], dim=1) for id_ in ids]
            for place, row in zip(places, ids[0][:, length[0] :].tolist(), strict=True):
                made[place] = row
        return made

    def _chosen(self, logits: Tensor, numbers: Tensor) -> Tensor:
        """Draw a token per row [rows], with one uniform number each [rows]."""
        if not self.how.stop and self._ends:
            logits[:, self._ends] = -torch.inf
        size = logits.shape[-1]
        best, tokens = (logits / self.temperature).topk(min(self.how.top_k or size, size))
        shares = torch.softmax(best.double().cpu(), dim=-1)  # the same sums on every device
        reached = shares.cumsum(-1)
        kept = shares.masked_fill(reached - shares >= self.how.top_p, 0.0)  # the first always stays
        sums = kept.cumsum(-1)
        place = torch.searchsorted(sums, (numbers * sums[:, -1])[:, None], right=True).clamp(max=size - 1)
        # Rounding may point past the last one that is kept.
        place = torch.minimum(place, (kept > 0).sum(-1, keepdim=True) - 1)
        return tokens.gather(1, place.to(tokens.device))[:, 0]

    @torch.inference_mode()
    def _can_cache(self) -> bool:
        """Return True if padding and cached keys give the same logits as a single row; the test ids are arbitrary."""
        size = int(self._model.config.vocab_size)
        rows = [[(7 * k + start) % size for k in range(length)] for start, length in ((3, 5), (11, 3))]
        try:
            ids, seen = _left_padded(rows, self._reader.padding_id, self._model.device)
            cache = DynamicCache(config=self._model.config)
            self._logits(ids, seen, cache)
            more = torch.tensor([[5 % size], [9 % size]], device=seen.device)
            together = self._logits(more, torch.cat([seen, seen.new_ones(2, 1)], dim=1), cache)
            full = [torch.tensor([[*row, int(new)]], device=seen.device) for row, new in zip(rows, more, strict=True)]
            alone = torch.cat([self._model(input_ids=entry, use_cache=False).logits[:, -1].float() for entry in full])
        except Exception as error:  # the authors' code may raise any error for an unknown mask or cache
            log.info("%s keeps no keys: %s", self.loaded.name, error)
            return False
        limit = ALIKE if self.loaded.precision == "fp32" else 0.5
        return bool(torch.allclose(together, alone, rtol=limit, atol=limit))


class _Reading:
    """The part of some rows that a model has read, with the logits of the next tokens [rows, vocabulary]."""

    def __init__(self, generator: Generator, rows: list[list[int]]) -> None:
        distinct = list(dict.fromkeys(map(tuple, rows)))
        self._ask: Any = generator._logits
        device = generator._model.device
        ids, seen = _left_padded(distinct, generator._reader.padding_id, device)
        self._cache = DynamicCache(config=generator._model.config)
        logits = self._ask(ids, seen, self._cache)
        of = torch.tensor([distinct.index(tuple(row)) for row in rows], device=device)
        self._cache.batch_select_indices(of)
        self.logits, self._seen = logits[of], seen[of]

    def read(self, tokens: Tensor) -> None:
        """Read one more token in every row [rows]."""
        self._seen = torch.cat([self._seen, self._seen.new_ones(len(tokens), 1)], dim=1)
        self.logits = self._ask(tokens[:, None], self._seen, self._cache)


def open_generator(
    name: str, how: Sampling | None = None, *, precision: Precision = "fp32", threads: int | None = None,
    device: str = "auto",
) -> Generator:  # fmt: skip
    """Load a causal model into this process, to write with. Raises ModelUnavailable; Refused for bad settings."""
    use_threads(threads)
    try:
        return Generator(load_causal(name, precision=precision, device=device), how)
    except ModelUnavailable as error:
        if error.message == LOOKS_AHEAD:
            raise ModelUnavailable(NO_WRITER, **error.values) from error
        raise


def _end_marks(model: Any, tokenizer: Any) -> set[int]:
    """Return the ids that end a text, by the model's settings and by its tokenizer."""
    named = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    result = {tokenizer.eos_token_id, *(named if isinstance(named, list | tuple) else [named])}
    return {int(token) for token in result if token is not None}


def _numbers(prompts: Sequence[Prompt], tokens: int) -> Tensor:
    """Return one uniform number in [0, 1) per text and token [texts, tokens], each row from its own seed."""
    rows = []
    for prompt in prompts:
        own = torch.Generator().manual_seed(prompt.seed)
        rows.append(torch.rand(tokens, generator=own, dtype=torch.float64))
    return torch.stack(rows)


def _left_padded(rows: Sequence[Sequence[int]], filler: int, device: Any) -> tuple[Tensor, Tensor]:
    """Return token ids that end at the same place, and a mask of those that count [rows, longest]."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*[filler] * (longest - len(row)), *row] for row in rows], device=device)
    seen = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=device)
    return ids, seen
