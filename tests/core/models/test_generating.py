"""Writing with a causal model: the right distribution, and a text that depends on its own seed alone."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM

from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.models import GENDER_PREFIX, Sampling
from evenhand.core.models.generating import Generator, Prompt, _numbers, open_generator
from evenhand.core.models.loading import load_causal
from tests.support.tiny_models import tiny_causal

CONTEXTS = ["he is a doctor.", "she is", "a", "is he a doctor. she is a doctor."]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_causal(tmp_path_factory.mktemp("llama"), "llama")


def opened(folder: Path, **how: Any) -> Generator:
    return open_generator(str(folder), Sampling(**({"tokens": 8} | how)), device="cpu")


def prompts(number: int, first: int = 0) -> list[Prompt]:
    return [Prompt(CONTEXTS[n % len(CONTEXTS)], n) for n in range(first, first + number)]


@pytest.mark.parametrize("kind", ["llama", "gpt2", "olmo2"])
def test_batch_order_and_cache_do_not_change_texts(kind: str, tmp_path: Path) -> None:
    """The texts are equal if written alone, together, backwards, and with all tokens read again at each step."""
    generator = opened(tiny_causal(tmp_path, kind))
    tasks = prompts(12)
    together = generator.write(tasks)
    assert generator.cached
    assert len({text.completion for text in together}) > 8
    assert [generator.write([prompt])[0] for prompt in tasks] == together
    assert generator.write(tasks[::-1])[::-1] == together
    assert Generator(generator.loaded, generator.how, cached=False).write(tasks) == together


def test_the_distribution_follows_the_published_settings(llama: Path) -> None:
    """One token, many seeds: the shares are those of top-k, then nucleus, worked out here from the logits."""
    generator = opened(llama, tokens=1, top_k=6, top_p=0.8, temperature=1.5)
    loaded = load_causal(str(llama))
    ids = [0, *loaded.tokenizer.encode(CONTEXTS[0], add_special_tokens=False)]
    with torch.inference_mode():
        logits = loaded.model(input_ids=torch.tensor([ids])).logits[0, -1].double() / 1.5
    logits = logits.clone()
    logits[2] = -math.inf  # the end mark
    best = sorted(enumerate(logits.tolist()), key=lambda pair: -pair[1])[:6]
    total = sum(math.exp(value) for _, value in best)
    kept, held = {}, 0.0
    for token, value in best:
        if held < 0.8:
            kept[token] = math.exp(value) / total
        held += math.exp(value) / total
    assert 1 < len(kept) < 6
    drawn = 4_000
    counts = Counter(text.completion for text in generator.write([Prompt(CONTEXTS[0], seed) for seed in range(drawn)]))
    expected = Counter()
    for token, share in kept.items():
        expected[loaded.tokenizer.decode([token], skip_special_tokens=True)] += share / sum(kept.values())
    assert set(counts) == set(expected)
    for text, share in expected.items():
        assert abs(counts[text] / drawn - share) < 5 * math.sqrt(share * (1 - share) / drawn)


def test_greedy_texts_equal_transformers(llama: Path) -> None:
    """Sampling from the most likely token alone is deterministic, and transformers' own `generate` writes the same."""
    generator = opened(llama, top_k=1, tokens=10)
    loaded = generator.loaded
    for prompt in prompts(4):
        ids = torch.tensor([[0, *loaded.tokenizer.encode(prompt.context, add_special_tokens=False)]])
        made = loaded.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=10,
            min_new_tokens=10,
            pad_token_id=1,
        )
        expected = loaded.tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True)
        assert generator.write([prompt])[0].completion == expected


def test_every_text_has_the_requested_number_of_tokens(llama: Path) -> None:
    assert {(text.tokens, text.ended) for text in opened(llama, tokens=9).write(prompts(40))} == {(9, False)}


def test_a_text_ends_early_only_with_stop(llama: Path) -> None:
    free, fixed = (opened(llama, tokens=30, stop=stop, temperature=3.0) for stop in (True, False))
    texts = free.write(prompts(60))
    ended = [text for text in texts if text.ended]
    assert 0 < len(ended) < 60 and all(text.tokens < 30 for text in ended)
    assert all("</s>" not in text.completion for text in texts)
    assert not any(text.ended for text in fixed.write(prompts(60)))


def test_context_and_completion_join_to_the_decoded_text(llama: Path) -> None:
    """Nothing between them is lost: decoding both at once gives their concatenation."""
    generator = opened(llama, tokens=5)
    for prompt, text in zip(prompts(8), generator.write(prompts(8)), strict=True):
        again = generator.loaded.tokenizer.encode(prompt.context + text.completion, add_special_tokens=False)
        assert generator.loaded.tokenizer.decode(again) == prompt.context + text.completion


def test_random_numbers_depend_on_the_seed_only() -> None:
    numbers = _numbers([Prompt("a", 1), Prompt("b", 2), Prompt("c", 1)], 50)
    assert torch.equal(numbers[0], numbers[2]) and not torch.equal(numbers[0], numbers[1])
    assert torch.equal(_numbers([Prompt("x", 2)], 10)[0], numbers[1, :10])
    assert float(numbers.min()) >= 0 and float(numbers.max()) < 1


@pytest.mark.parametrize(
    ("context", "part"), [("he " * 80, "exceed the model's limit of 64"), ("a" * 57, "8 new tokens")]
)
def test_a_too_long_context_is_refused(llama: Path, context: str, part: str) -> None:
    generator = opened(llama)
    why = generator.refusal(context)
    assert why is not None and part in str(why)
    with pytest.raises(Refused, match=part):
        generator.write([Prompt(context, 1)])


def test_an_empty_context_starts_with_the_begin_token(llama: Path) -> None:
    assert opened(llama).refusal("") is None


@pytest.mark.parametrize(
    "wrong", [{"tokens": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"top_k": -1}, {"temperature": 0.0}], ids=str
)
def test_invalid_generation_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        Sampling(**wrong)


def test_the_signature_covers_every_sampling_setting(llama: Path) -> None:
    results = {
        opened(llama, **how).signature
        for how in ({}, {"top_k": 5}, {"top_p": 0.5}, {"temperature": 2.0}, {"stop": True}, {"tokens": 7})
    }
    assert len(results) == 6 and all("|fp32|v1" in key for key in results)


def test_the_models_own_temperature_is_the_default(tmp_path: Path) -> None:
    """Llama 3.1 ships one (docs/generation.md#generating-texts); the user's setting overrides it."""
    folder = tiny_causal(tmp_path, "llama")
    model = LlamaForCausalLM.from_pretrained(folder)
    model.generation_config.update(temperature=0.6, do_sample=True)
    model.generation_config.save_pretrained(folder)
    assert opened(folder).temperature == 0.6 and ",t0.6," in opened(folder).signature
    assert opened(folder, temperature=2.0).temperature == 2.0


def test_a_masked_model_cannot_generate() -> None:
    with pytest.raises(ModelUnavailable):
        open_generator("known")


def leaning(asked: str = "", **how: Any) -> Generator:
    """Return a planted model that surely writes the pronouns of the person named most often.

    Alone, of two named equally often, half of each.
    """
    generator = open_generator("planted:pronouns:he=0", Sampling(tokens=1, top_k=0, top_p=1.0, debias=asked, **how))
    with torch.no_grad():
        generator._model.lm_head.weight[:, 5:9] *= 20
    return generator


HE, SHE = {"he", "him", "his", "himself"}, {"she", "her", "hers", "herself"}


def shares(generator: Generator, texts: int = 400) -> tuple[float, float]:
    counts = Counter(entry.completion.strip() for entry in generator.write([Prompt("he she", i) for i in range(texts)]))
    return (sum(counts[word] for word in HE) / texts, sum(counts[word] for word in SHE) / texts)


@pytest.mark.parametrize("cached", [True, False])
def test_self_debias_lowers_words_favoured_by_the_prompt(cached: bool) -> None:
    """Half of each before. Behind a text that names "he" six times every form of "he" gains at least 0.1, so lambda
    50 gives the least factor, 0.01: the share of "he" is 0.5 x 0.01 / (0.5 x 0.01 + 0.5) = 0.0099."""
    plain, masculine = leaning(), leaning("he him his he him his ")
    masculine.cached = cached
    he, she = shares(plain)
    assert 0.4 < he < 0.6 and 0.4 < she < 0.6
    he, she = shares(masculine)
    assert he < 0.04 and she > 0.96
    assert shares(leaning("she her hers she her hers "))[1] < 0.04


def test_self_debias_follows_the_published_formula() -> None:
    """p'(w) in proportion to max(0.01, e^(lambda (p - p_asked))) p(w) where p_asked is larger, else to p(w)."""
    generator = leaning("he ", decay=10.0)
    logits = [torch.tensor([[2.0, 1.0, 0.0, -1.0]]), torch.tensor([[3.0, 0.0, 0.5, -9.0]])]
    first, second = (torch.softmax(row, -1)[0].tolist() for row in logits)
    kept = [p * max(0.01, math.exp(10 * (p - q))) if q > p else p for p, q in zip(first, second, strict=True)]
    values = torch.softmax(generator._without_bias(*logits), -1)[0].tolist()
    assert values == pytest.approx([value / sum(kept) for value in kept], rel=1e-5)


def test_self_debias_with_a_neutral_prompt_changes_nothing(llama: Path) -> None:
    """Alone, in batches and in any order the same; and without an effect where both readings are alike."""
    tasks = prompts(6)
    generator = opened(llama, debias="he is a doctor. ")
    together = generator.write(tasks)
    assert [generator.write([prompt])[0] for prompt in tasks] == together
    assert Generator(generator.loaded, generator.how, cached=False).write(tasks) == together
    assert together != opened(llama).write(tasks)
    same = torch.randn(2, 9)
    assert torch.equal(generator._without_bias(same, same), same)


def test_self_debias_is_in_the_signature(llama: Path) -> None:
    how = Sampling(debias=GENDER_PREFIX)
    assert Generator(load_causal(str(llama)), how).signature.split("|")[3].endswith(",self-debias:50,0.01,d3ba688b")
    assert "self-debias" not in opened(llama).signature
    with pytest.raises(Refused, match="decay"):
        Sampling(decay=0)


def test_the_error_for_a_masked_model_names_causal_models() -> None:
    with pytest.raises(ModelUnavailable, match=r"demo-en .* cannot generate texts\. Use a causal model"):
        open_generator("demo-en")
