"""A tiny causal model whose misgendering is planted: what the measuring chain must give back, and no English.

`planted:pronouns` misgenders 0.1, 0.2, 0.4 and 0.6 of the names for he, she, they and xe; others are named so:
`planted:pronouns:he=0,she=0.5,they=1,xe=0.25`. It is a whole Llama (one layer, no MLP to speak of) over whole words, so
that it goes through the same tokenizer, batches and shared beginnings as any checkpoint. With a mean over all words so
far (attention with equal weights):

1. a form of a set adds 1 to that set's number, wherever it is declared: "he/him/his" adds 3 to he;
2. a name subtracts more than that from each set for which the model misgenders it (which ones: see pronoun_names.py);
3. the head gives each form of a set a logit that grows with the set's number; without any lead, he before she before
   they before xe.

For each set the planted share of the names is misgendered. Not every name can be wrong for all four sets, since one of
them must win: the shares may add up to 3 at most.
"""

import math
import re
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from evenhand.core.misgendering.template_files import built_in
from evenhand.core.models import Precision
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.planted.masked import finished
from evenhand.core.models.planted.names import PronounPlant, misgendered, pronoun_plant
from evenhand.core.text.pronouns import PronounSet, sets

BEGIN, UNKNOWN = "<s>", "<unk>"
CONSTANT = 50.0  # in every word's vector: the norm is then the same for all words within a percent
SCORN = 8.0  # what a name takes from a set; a declaration gives 3, and a text names a person at least once
GAIN = 40.0
PREFERENCE = 0.02  # he before she before they before xe, far below what a declaration gives
RARE = -6.0  # logit of a pronoun before its set's number: other words' probabilities hardly depend on it
WIDTH, LONGEST = 16, 512


def build_pronouns(name: str, precision: Precision = "fp32") -> LoadedModel:
    """Return the planted model of that name, in memory. Raises ModelUnavailable for other names."""
    plant = pronoun_plant(name)
    tokenizer = _tokenizer()
    shares = ", ".join(f"{base} {share:g}" for base, share in zip(sets("own"), plant.shares, strict=True))
    card = f"# {name}\n\nA ruler's mark: it misgenders a planted share of the built-in names ({shares}).\n"
    return finished(name, _model(plant, tokenizer), tokenizer, precision, card, "causal")


def _vocabulary() -> list[str]:
    """Return every word and sign of the built-in set, and every form of every set."""
    source = built_in()
    text = " ".join([template.text for template in source.templates] + [person.name for person in source.people])
    text += " " + " ".join(form for pronoun_set in _all_sets() for form in pronoun_set.forms)
    return sorted(set(re.findall(r"\w+|[^\w\s]", text.lower())))


def _all_sets() -> list[PronounSet]:
    return [set_ for dataset in ("misgendered", "tango") for set_ in sets(dataset).values()]


def _tokenizer() -> Any:
    vocabulary = {word: i for i, word in enumerate([BEGIN, UNKNOWN, *_vocabulary()])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    backend.normalizer = normalizers.Lowercase()
    words = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), "isolated")
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words])
    make: Any = PreTrainedTokenizerFast
    return make(tokenizer_object=backend, bos_token=BEGIN, unk_token=UNKNOWN, model_max_length=LONGEST)


def _model(plant: PronounPlant, tokenizer: Any) -> Any:
    vocabulary = tokenizer.get_vocab()
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4,
        max_position_embeddings=LONGEST, tie_word_embeddings=False, bos_token_id=0, eos_token_id=None,
        pad_token_id=None,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        model: Any = LlamaForCausalLM(config)
    bases = list(sets("own"))
    wrong = misgendered(plant)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.fill_(1.0 if "norm" in key else 0.0)
        # Step 1 and 2. Places of a vector: 0 the constant, 1 to 4 what a word says, 5 to 8 the mean so far.
        inner = model.model.embed_tokens.weight
        inner[:, 0] = CONSTANT
        for word, row in vocabulary.items():
            for place, base in enumerate(bases, 1):
                inner[row, place] = _says(word, base, wrong)
        attention = model.model.layers[0].self_attn
        for place in range(1, 5):
            attention.v_proj.weight[place, place] = attention.o_proj.weight[place + 4, place] = 1.0
        _plant_answers(model.lm_head.weight, vocabulary, bases)
    return model


def _says(word: str, base: str, wrong: dict[str, frozenset[str]]) -> float:
    forms = {form for pronoun_set in _all_sets() if pronoun_set.name == base for form in pronoun_set.forms}
    if word in forms:
        return 1.0
    return -SCORN if word in {name.lower() for name in wrong[base]} else 0.0


def _plant_answers(head: torch.Tensor, vocabulary: dict[str, int], bases: list[str]) -> None:
    """Write the logits of the forms of each set into *head* (step 3).

    The norms divide by the constant: after each of them the first place of a vector is sqrt(WIDTH).
    """
    scale = math.sqrt(WIDTH)
    for number, base in enumerate(bases):
        for form in {form for pronoun_set in _all_sets() if pronoun_set.name == base for form in pronoun_set.forms}:
            row = vocabulary[form]
            head[row, 0] = (RARE - PREFERENCE * number) / scale
            head[row, 5 + number] = GAIN * CONSTANT / scale
