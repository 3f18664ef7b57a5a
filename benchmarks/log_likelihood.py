"""Pair sums of a causal model beside lm-evaluation-harness: `python -m benchmarks.log_likelihood [--pairs 200]`.

A Llama of about 110 million random weights (`--billion`: 1.1 billion) with the tokenizer of demo-en-causal, and
sentences of WinoBias with he or she: the log-likelihood of both sentences of each pair by `lm_eval`'s HFLM (batches of
32, as its tasks ask it), and the pair sums of this app. Two threads, fp32, on the processor or `--device`, in turns of
a quarter of the pairs. Needs `pip install lm_eval`. Printed are pairs a second of the clock and of the processor, and
the largest difference of Bias_c (log10).
"""

import argparse
import math
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from evenhand.core.models import open_scorer
from evenhand.core.resources import MODELS, table
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.types import MaskedSentence

TURNS, BATCH, THREADS = 4, 32, 2
WORDS = ("he", "she")


SMALL = {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 12}
BILLION = {"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32}


def llama(folder: Path, size: dict[str, int]) -> None:
    """Write a Llama of that *size* with random weights, and the tokenizer of demo-en-causal."""
    tokenizer = AutoTokenizer.from_pretrained(MODELS / "demo-en-causal")
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=len(tokenizer), initializer_range=0.04, max_position_embeddings=512, **size)
    LlamaForCausalLM(config).save_pretrained(folder)


def pairs(number: int) -> list[MaskedSentence]:
    """Sentences of WinoBias in which he or she stands once, not at the beginning."""
    found = dict.fromkeys(re.sub(r"[\[\]]", "", str(row["pro"])) for row in table("winobias"))
    places = ((text, re.findall(r"\b(?:he|she)\b", text), re.search(r"\b(?:he|she)\b", text)) for text in found)
    probes = [MaskedSentence(text, at.start(), at.end(), WORDS) for text, all_, at in places if at and len(all_) == 1]
    return probes[:number]


def harness(folder: Path, device: str) -> Callable[[Sequence[MaskedSentence]], list[float | None]]:
    """Bias_c by two requests of lm_eval a pair."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=str(folder), device=device, batch_size=BATCH, dtype="float32")

    def ask(probes: Sequence[MaskedSentence]) -> list[float | None]:
        texts = [one.text[: one.start] + word + one.text[one.end :] for one in probes for word in one.options]
        requests = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)]
        sums = [value for value, _ in model.loglikelihood(requests, disable_tqdm=True)]
        return [(he - she) / math.log(10) for he, she in zip(sums[::2], sums[1::2], strict=True)]

    return ask


def main() -> None:
    """Ask both in turns and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--device", default="cpu", help="cpu or cuda, for both")
    parser.add_argument("--billion", action="store_true", help="1.1 billion weights (4.4 GB)")
    asked = parser.parse_args()
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        llama(folder, BILLION if asked.billion else SMALL)
        scorer = open_scorer(str(folder), threads=THREADS, device=asked.device)
        ways = {
            "lm_eval": harness(folder, asked.device),
            "this app": lambda some: [bias_of(score) for score in scorer.score(some)],
        }
        probes = pairs(asked.pairs)
        answers: dict[str, list[float | None]] = {name: [] for name in ways}
        spent = {name: [0.0, 0.0] for name in ways}
        for turn in range(TURNS):
            for name, ask in ways.items():
                clock, processor = time.perf_counter(), time.process_time()
                answers[name] += ask(probes[turn::TURNS])
                spent[name][0] += time.perf_counter() - clock
                spent[name][1] += time.process_time() - processor
    for name, (clock, processor) in spent.items():
        print(f"{name:<10}{len(probes) / clock:8.1f} pairs a second, {len(probes) / processor:6.2f} a processor second")
    both = [(a, b) for a, b in zip(*answers.values(), strict=True) if a is not None and b is not None]
    print(f"{len(both)} pairs, largest difference of Bias_c {max(abs(a - b) for a, b in both):.1e}")


if __name__ == "__main__":
    main()
