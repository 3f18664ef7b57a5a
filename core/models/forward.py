"""Compute logits at the wanted places from token ids: the only step that takes long.

Two classes give the same logits within rounding (tests/core/models/test_forward.py). `HeadAtPlaces` runs any
architecture with its authors' code, and applies the head to the wanted places only. `Fused` computes BERT and its
relatives for one purpose, logits at a few places of many sentences. It adds up the same sums as the authors' code and
leaves out what a scorer does not need:

- no padding: the tokens of all sentences are in one long matrix, and only attention goes through them sentence by
  sentence, all sentences of one length at once;
- query, key and value are one matrix product;
- the last layer computes keys and values of every token, but queries, output and feed-forward at wanted places only;
  the head too computes these places only;
- residuals are added by the matrix product itself, and intermediate values share one workspace.

`Fused` takes the architectures of `FAMILIES`, with absolute positions and the normalisation after each sublayer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear, scaled_dot_product_attention
from transformers.activations import ACT2FN

# Tokens a batch. Large enough that the matrix products dominate, small enough to stay in the processor's caches;
# a padded handful of sentences would waste a third of a large batch. A graphics card wants more work at once.
BUDGET, BUDGET_SMALL, SMALL, BUDGET_CUDA = 2048, 512, 128, 16_384

Rows = Sequence[Sequence[int]]


class Forward(Protocol):
    """A model that can be asked for logits at places. Not for several threads at once."""

    def __call__(self, rows: Rows, places: Rows) -> Tensor:
        """Return logits [places of all rows, vocabulary] of token ids *rows*, ordered by row and *places*."""
        ...

    def batches(self, lengths: Sequence[int], widths: Sequence[int]) -> Iterator[list[int]]:
        """Return indices of rows to run together, for rows of *lengths* tokens with *widths* requested places."""
        ...


def budget_on(device: torch.device) -> int:
    """Return how many tokens a batch may have for a model on *device*."""
    return BUDGET_CUDA if device.type == "cuda" else BUDGET


class HeadAtPlaces:
    """Any architecture: rows of like lengths padded together, the encoder on everything, the head on the places."""

    def __init__(self, model: Any, padding_id: int) -> None:
        self.model, self.padding_id = model, padding_id

    @torch.inference_mode()
    def __call__(self, rows: Rows, places: Rows) -> Tensor:
        """See `Forward`."""
        ids, uneven = padded(rows, self.padding_id, self.model.device), len(set(map(len, rows))) > 1
        seen = padded([[1] * len(row) for row in rows], 0, self.model.device) if uneven else None
        return logits_at(self.model, places, input_ids=ids, attention_mask=seen)

    def batches(self, lengths: Sequence[int], widths: Sequence[int]) -> Iterator[list[int]]:
        """See `Forward`; the budget counts padding."""
        del widths
        return padded_batches(lengths, budget_on(self.model.device) if len(lengths) > SMALL else BUDGET_SMALL)


def logits_at(model: Any, places: Rows, **inputs: Any) -> Tensor:
    """Return logits [places of all rows, vocabulary] of one pass of any Hugging Face language model.

    The head works on each place by itself, so the encoder's output can be
    reduced to those places on its way to the head, for any architecture.
    """
    row_of = torch.tensor([i for i, there in enumerate(places) for _ in there], device=model.device)
    place_of = torch.tensor([place for there in places for place in there], device=model.device)

    kept = False

    def keep_places(_module: Any, _inputs: Any, output: Any) -> Any:
        nonlocal kept
        kept = True
        output["last_hidden_state"] = output["last_hidden_state"][row_of, place_of].unsqueeze(0)
        return output

    hook = model.base_model.register_forward_hook(keep_places)
    try:
        logits: Tensor = model(**inputs).logits
    finally:
        hook.remove()
    return logits[0] if kept else logits[row_of, place_of]  # OPT goes past its base model


def padded(rows: Rows, filler: int, device: torch.device | str) -> Tensor:
    """Return rows of numbers, filled up at their right ends, on *device* [rows, longest]."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows], device=device)


def padded_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield indices of rows of like length together, at most *budget* padded tokens a batch or one longer row."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[i] > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {"gelu": torch.ops.aten.gelu_, "relu": torch.relu_}


class Run(NamedTuple):
    """Sentences side by side that have equally many tokens and asked places."""

    sentences: int
    length: int
    places: int


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one layer; query, key and value one below the other in `qkv`, [3 * width, width]."""

    qkv: Tensor
    qkv_bias: Tensor
    out: Any
    after_attention: Any
    up: Any
    down: Any
    after_feed_forward: Any


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The parts of a model of the family, under names that do not depend on its authors."""

    embeddings: Any
    first_position: int
    project: Any | None
    layers: tuple[Layer, ...]
    heads: int
    activation: Callable[[Tensor], Tensor]
    head: Callable[[Tensor], Tensor]


class Fused:
    """The forward pass; obeys `core.models.forward.Forward`."""

    def __init__(self, parts: Anatomy) -> None:
        self.parts = parts
        self.budget = budget_on(parts.layers[0].qkv.device)
        self._space: Tensor | None = None

    def batches(self, lengths: Sequence[int], widths: Sequence[int]) -> Iterator[list[int]]:
        """Yield rows of like length and width together, at most `budget` tokens a batch (a longer row is its own)."""
        batch: list[int] = []
        tokens = 0
        for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], widths[i])):
            if batch and tokens + lengths[i] > self.budget:
                yield batch
                batch, tokens = [], 0
            batch.append(i)
            tokens += lengths[i]
        if batch:
            yield batch

    @torch.inference_mode()
    def __call__(self, rows: Rows, places: Rows) -> Tensor:
        """Return logits [places of all rows, vocabulary]."""
        alike = groupby(zip(map(len, rows), map(len, places), strict=True))
        runs = [Run(sum(1 for _ in members), *shape) for shape, members in alike]
        starts = accumulate(map(len, rows), initial=0)
        asked = [start + place for start, there in zip(starts, places, strict=False) for place in there]
        hidden = self._embed(rows)
        for layer in self.parts.layers[:-1]:
            hidden = self._everywhere(layer, hidden, runs)
        hidden = self._at_places(self.parts.layers[-1], hidden, runs, torch.tensor(asked, device=hidden.device))
        return self.parts.head(hidden)

    def _embed(self, rows: Rows) -> Tensor:
        """Return the embeddings of all tokens, [tokens, width]."""
        parts, first = self.parts, self.parts.first_position
        words = parts.embeddings.word_embeddings.weight
        ids = torch.tensor([i for row in rows for i in row], device=words.device)
        at = torch.tensor([place for row in rows for place in range(first, first + len(row))], device=words.device)
        hidden = words[ids].add_(parts.embeddings.position_embeddings.weight[at])
        if hasattr(parts.embeddings, "token_type_embeddings"):
            hidden.add_(parts.embeddings.token_type_embeddings.weight[0])
        hidden = _normed(hidden, parts.embeddings.LayerNorm)
        return hidden if parts.project is None else parts.project(hidden)

    def _everywhere(self, layer: Layer, hidden: Tensor, runs: Sequence[Run]) -> Tensor:
        """Run one layer at every token. Overwrites *hidden*, [tokens, width]."""
        width = hidden.shape[1]
        qkv, mixed = self._workspace(hidden, 3 * width, width)
        torch.addmm(layer.qkv_bias, hidden, layer.qkv.t(), out=qkv)
        at = 0
        for run in runs:
            end = at + run.sentences * run.length
            query, key, value = self._heads(qkv[at:end], run.sentences, run.length, 3)
            self._heads(mixed[at:end], run.sentences, run.length, 1)[0].copy_(
                scaled_dot_product_attention(query, key, value)
            )
            at = end
        return self._after_attention(layer, hidden, mixed)

    def _at_places(self, layer: Layer, hidden: Tensor, runs: Sequence[Run], asked: Tensor) -> Tensor:
        """Run the last layer and return only the rows *asked* of [tokens, width], as [asked, width]."""
        width = hidden.shape[1]
        kept = hidden[asked]
        query_all = linear(kept, layer.qkv[:width], layer.qkv_bias[:width])
        both = torch.addmm(
            layer.qkv_bias[width:], hidden, layer.qkv[width:].t(), out=self._workspace(hidden, 2 * width)[0]
        )
        mixed = torch.empty_like(kept)
        at = row = 0
        for run in runs:
            end, last = at + run.sentences * run.length, row + run.sentences * run.places
            (query,) = self._heads(query_all[row:last], run.sentences, run.places, 1)
            key, value = self._heads(both[at:end], run.sentences, run.length, 2)
            self._heads(mixed[row:last], run.sentences, run.places, 1)[0].copy_(
                scaled_dot_product_attention(query, key, value)
            )
            at, row = end, last
        return self._after_attention(layer, kept, mixed)

    def _after_attention(self, layer: Layer, hidden: Tensor, mixed: Tensor) -> Tensor:
        """Run output projection, residual, norm, then feed-forward, residual, norm. Overwrites *hidden*."""
        hidden = _normed(hidden.add_(layer.out.bias).addmm_(mixed, layer.out.weight.t()), layer.after_attention)
        # Attention is over, so its part of the workspace is free.
        (wide,) = self._workspace(hidden, layer.up.out_features)
        wide = self.parts.activation(torch.addmm(layer.up.bias, hidden, layer.up.weight.t(), out=wide))
        return _normed(hidden.add_(layer.down.bias).addmm_(wide, layer.down.weight.t()), layer.after_feed_forward)

    def _heads(self, matrix: Tensor, count: int, length: int, of: int) -> tuple[Tensor, ...]:
        """Return [count * length, of * width] as *of* views of the shape [count, heads, length, width of a head]."""
        split = matrix.view(count, length, of, self.parts.heads, -1)
        return tuple(entry.transpose(1, 2) for entry in split.unbind(2))

    def _workspace(self, like: Tensor, *widths: int) -> list[Tensor]:
        """Return uninitialised matrices [tokens of *like*, width], one after the other in memory that is reused."""
        tokens = len(like)
        if self._space is None or self._space.numel() < tokens * sum(widths):
            layer = self.parts.layers[0]
            most = max(sum(widths), layer.up.out_features, 4 * layer.qkv.shape[1])
            # One sentence needs little, a batch all.
            room = max(tokens, self.budget) if tokens > self.budget // 4 else tokens
            self._space = torch.empty(room * most, dtype=like.dtype, device=like.device)
        ends = list(accumulate((tokens * width for width in widths), initial=0))
        return [self._space[a:b].view(tokens, -1) for a, b in pairwise(ends)]


def _normed(hidden: Tensor, norm: Any) -> Tensor:
    return layer_norm(hidden, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


def anatomy(model: Any) -> Anatomy | None:
    """Return the parts of the model if its architecture is known, else None.

    Puts query, key and value next to each other in memory; the model keeps working, on the same numbers.
    """
    read = FAMILIES.get(type(model).__name__)
    config = model.config
    relative = getattr(config, "position_embedding_type", "absolute") not in (None, "absolute")
    if read is None or relative or type(model).__module__.partition(".")[0] != "transformers":
        return None
    return read(model, config)


def _bert(model: Any, config: Any) -> Anatomy:
    """Return the parts of BERT, RoBERTa and models that share their code, and of the generator of ELECTRA."""
    base = model.base_model
    layers = tuple(
        Layer(
            *_together(layer.attention.self.query, layer.attention.self.key, layer.attention.self.value),
            layer.attention.output.dense,
            layer.attention.output.LayerNorm,
            layer.intermediate.dense,
            layer.output.dense,
            layer.output.LayerNorm,
        )
        for layer in base.encoder.layer
    )
    roberta = hasattr(model, "lm_head")
    head = model.lm_head if roberta else getattr(model, "cls", None)
    if head is None:
        head = torch.nn.Sequential(model.generator_predictions, model.generator_lm_head)
    return Anatomy(
        embeddings=base.embeddings,
        first_position=base.embeddings.padding_idx + 1 if roberta else 0,
        project=getattr(base, "embeddings_project", None),
        layers=layers,
        heads=config.num_attention_heads,
        activation=IN_PLACE.get(config.hidden_act, ACT2FN[config.hidden_act]),
        head=head,
    )


def _distilbert(model: Any, config: Any) -> Anatomy:
    base = model.base_model
    layers = tuple(
        Layer(
            *_together(layer.attention.q_lin, layer.attention.k_lin, layer.attention.v_lin),
            layer.attention.out_lin,
            layer.sa_layer_norm,
            layer.ffn.lin1,
            layer.ffn.lin2,
            layer.output_layer_norm,
        )
        for layer in base.transformer.layer
    )
    head = torch.nn.Sequential(model.vocab_transform, model.activation, model.vocab_layer_norm, model.vocab_projector)
    activation = IN_PLACE.get(config.activation, ACT2FN[config.activation])
    return Anatomy(base.embeddings, 0, None, layers, config.n_heads, activation, head)


FAMILIES: dict[str, Callable[[Any, Any], Anatomy]] = {
    "BertForMaskedLM": _bert,
    "RobertaForMaskedLM": _bert,
    "XLMRobertaForMaskedLM": _bert,
    "CamembertForMaskedLM": _bert,
    "ElectraForMaskedLM": _bert,
    "DistilBertForMaskedLM": _distilbert,
}


@torch.no_grad()
def _together(*parts: Any) -> tuple[Tensor, Tensor]:
    """Return weights and biases of linear layers as one matrix and one vector; the layers become views of these."""
    weight, bias = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
    size = len(parts[0].weight)
    for number, part in enumerate(parts):
        part.weight.data = weight[number * size : (number + 1) * size]
        part.bias.data = bias[number * size : (number + 1) * size]
    return weight, bias
