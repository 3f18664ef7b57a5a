"""SentenceDebias and INLP: remove directions from the input of a model's head.

Both find directions in the mean of the last hidden states over the tokens of a sentence, and project them away. The
projection is linear and comes right before the head, so it is multiplied into the head's first matrix: the changed
model is an ordinary checkpoint.

* SentenceDebias (Liang et al. 2020): the first principal component of the differences between a sentence and its
  counterfactual, both centred on their mean.
* INLP (Ravfogel et al. 2020; for sentences Meade et al. 2022, 80 classifiers for BERT, 10 for GPT-2): a classifier
  learns to tell sentences of the two sides, its direction is projected away, and so on until it cannot.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.core.errors import N_, ModelUnavailable, Refused
from evenhand.core.models.loaded import Task

COMPONENTS = 1  # SentenceDebias for gender (Liang et al. 2020)
CLASSIFIERS = {"masked": 80, "causal": 10}  # Meade et al. 2022
AT_ONCE = 32  # sentences
LEAST_PAIRS = 10

FEW = N_("Only {found} texts contain words of a single gender; estimating a direction needs {least}.")
NO_HEAD = N_("{name}: no linear layer reads the last hidden states, so nothing can be projected there.")

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Probe:
    """The accuracy of a fresh linear classifier of the two sides on unseen sentences, 0 to 1; chance is 1/2.

    `low`, `high`: the band of a coin in 95 of 100 cases, for this number of sentences.
    """

    accuracy: float
    sentences: int
    low: float
    high: float
    also_in_json: ClassVar = ("is_chance",)

    @property
    def is_chance(self) -> bool:
        """True if the interval of chance, from `low` to `high`, contains the accuracy."""
        return self.low <= self.accuracy <= self.high


@dataclass(frozen=True, slots=True)
class Projection:
    """`matrix` (width x width, symmetric) projects hidden states; `directions`: the number of directions removed."""

    matrix: Numbers
    directions: int
    before: Probe
    after: Probe


@torch.inference_mode()
def sentence_vectors(model: Any, tokenizer: Any, texts: Sequence[str], length: int) -> Numbers:
    """Return the mean of the last hidden states over the tokens of each text, special ones too (Meade et al. 2022)."""
    vectors = []
    for start in range(0, len(texts), AT_ONCE):
        some = list(texts[start : start + AT_ONCE])
        given = tokenizer(some, padding=True, truncation=True, max_length=length, return_tensors="pt")
        given = {key: given[key].to(model.device) for key in ("input_ids", "attention_mask")}
        states = model.base_model(**given).last_hidden_state.float()
        weight = given["attention_mask"].unsqueeze(-1)
        vectors.append(((states * weight).sum(1) / weight.sum(1)).cpu().double().numpy())
    return np.concatenate(vectors)


def sentence_debias(male: Numbers, female: Numbers) -> Projection:
    """Take out the first principal components of the differences; rows of the two belong together, pair by pair."""
    refuse_few(len(male))
    middle = (male + female) / 2
    centred = np.concatenate([male - middle, female - middle])
    directions = np.linalg.svd(centred, full_matrices=False)[2][:COMPONENTS]
    matrix = np.eye(male.shape[1]) - directions.T @ directions
    return Projection(matrix, COMPONENTS, _probe(male, female), _probe(male @ matrix, female @ matrix))


def inlp(male: Numbers, female: Numbers, task: Task) -> Projection:
    """Take out the directions of linear classifiers, one after the other, until they tell no more than a coin.

    At most the published number of classifiers. The rows of every second pair are for fitting, the others say
    when it is over; a pair is never on both sides.
    """
    from sklearn.linear_model import LogisticRegression

    refuse_few(len(male))
    width = male.shape[1]
    result: list[Numbers] = []
    matrix: Numbers = np.eye(width)
    before = after = _probe(male, female)
    while len(result) < min(CLASSIFIERS[task], width - 1) and not after.is_chance:
        (fit, sides), _ = _halves(male @ matrix, female @ matrix)
        weights = LogisticRegression(max_iter=1000).fit(fit, sides).coef_
        direction = matrix @ weights[0]
        size = float(np.linalg.norm(direction))
        if size < 1e-12:
            break
        result.append(direction / size)
        # The intersection of all null spaces, not the product of projections, which would drift (Ravfogel et al. 2020).
        basis = np.linalg.qr(np.array(result).T)[0]
        matrix = np.eye(width) - basis @ basis.T
        after = _probe(male @ matrix, female @ matrix)
    return Projection(matrix, len(result), before, after)


def refuse_few(found: int) -> None:
    """Raise Refused where *found* sentences are too few to find a direction."""
    if found < LEAST_PAIRS:
        raise Refused(FEW, found=found, least=LEAST_PAIRS)


def _halves(male: Numbers, female: Numbers) -> Iterator[tuple[Numbers, NDArray[np.int64]]]:
    """Yield vectors and sides (1 male) of every second pair, then of the others."""
    for first in (0, 1):
        some = male[first::2], female[first::2]
        yield np.concatenate(some), np.repeat([1, 0], [len(part) for part in some])


def _probe(male: Numbers, female: Numbers) -> Probe:
    from scipy import stats
    from sklearn.linear_model import LogisticRegression

    (fit, sides), (held, truth) = _halves(male, female)
    probe = LogisticRegression(max_iter=1000, random_state=0).fit(fit, sides)
    right = int((probe.predict(held) == truth).sum())
    low, high = stats.binom.ppf([0.025, 0.975], len(truth), 0.5) / len(truth)
    return Probe(right / len(truth), len(truth), float(low), float(high))


def apply_projection(name: str, model: Any, matrix: Numbers) -> None:
    """Multiply *matrix* into the first layer of the head of *model*, in place; a head that is tied to the word
    embeddings gets weights of its own. Raises ModelUnavailable where no such layer exists."""
    layer = _first_of_head(model)
    if layer is None:
        raise ModelUnavailable(NO_HEAD, name=name)
    if layer is model.get_output_embeddings():
        model.config.tie_word_embeddings = False
        layer.weight = torch.nn.Parameter(layer.weight.detach().clone(), requires_grad=False)
    with torch.no_grad():
        taken = torch.from_numpy(matrix).to(layer.weight.device)
        layer.weight.copy_((layer.weight.double() @ taken).to(layer.weight.dtype))


@torch.inference_mode()
def _first_of_head(model: Any) -> Any:
    """Return the linear layer outside the encoder that receives the last hidden states."""
    inside = {id(layer) for layer in model.base_model.modules()}
    seen: list[tuple[Any, torch.Tensor]] = []
    hooks = [
        layer.register_forward_pre_hook(lambda layer, given: seen.append((layer, given[0])))
        for layer in model.modules()
        if isinstance(layer, torch.nn.Linear) and id(layer) not in inside
    ]
    states: list[torch.Tensor] = []
    hooks.append(model.base_model.register_forward_hook(lambda _m, _g, out: states.append(out[0])))
    ids = torch.arange(4, device=model.device).unsqueeze(0)
    model(input_ids=ids)
    for hook in hooks:
        hook.remove()
    last = states[-1]
    return next((layer for layer, given in seen if given.shape == last.shape and bool((given == last).all())), None)
