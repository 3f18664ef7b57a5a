"""Pair sums of a causal model against lm-evaluation-harness: `python -m benchmarks.log_likelihood [--pairs 200]`.

A Llama of about 110 million random weights (`--billion`: 1.1 billion) with the tokenizer of demo-en-causal, and
sentences of WinoBias with he or she: the log-likelihood of both sentences of each pair by `lm_eval`'s HFLM (batches of
32, as its tasks ask it), and the pair sums of this app. Two threads, fp32, on the processor or `--device` (cpu, cuda),
in turns of a quarter of the pairs. Needs `pip install lm_eval`. Printed are pairs a second of the clock and of the
processor, and the largest difference of Bias_c (log10).
"""

import math
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from benchmarks.measuring import Lane, largest_difference, options, race
from benchmarks.scoring import Finished
from evenhand.core.models import open_scorer
from evenhand.core.resources import MODELS, table
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.types import MaskedSentence

TURNS, BATCH, THREADS = 4, 32, 2
WORDS = ("he", "she")
Way = Callable[[Sequence[MaskedSentence]], list[float | None]]
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
    """Return sentences of WinoBias in which he or she occurs once, not at the beginning."""
    values = dict.fromkeys(re.sub(r"[\[\]]", "", str(row["pro"])) for row in table("winobias"))
    places = ((text, re.findall(r"\b(?:he|she)\b", text), re.search(r"\b(?:he|she)\b", text)) for text in values)
    probes = [MaskedSentence(text, at.start(), at.end(), WORDS) for text, all_, at in places if at and len(all_) == 1]
    return probes[:number]


def harness(folder: Path, device: str) -> Way:
    """Return how lm_eval is asked for Bias_c: two requests a pair."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=str(folder), device=device, batch_size=BATCH, dtype="float32")

    def ask(probes: Sequence[MaskedSentence]) -> list[float | None]:
        texts = [
            probe.text[: probe.start] + word + probe.text[probe.end :] for probe in probes for word in probe.options
        ]
        requests = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)]
        sums = [value for value, _ in model.loglikelihood(requests, disable_tqdm=True)]
        return [(he - she) / math.log(10) for he, she in zip(sums[::2], sums[1::2], strict=True)]

    return ask


def in_turns(ask: Way, probes: Sequence[MaskedSentence]) -> Finished:
    """Yield Bias_c of a quarter of the pairs at a time."""
    for turn in range(TURNS):
        numbers = range(turn, len(probes), TURNS)
        yield list(zip(numbers, ask(probes[turn::TURNS]), strict=True))


def main() -> None:
    """Ask both in turns and print."""
    arguments = options(__doc__, pairs=200, device="cpu", billion=False)
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        llama(folder, BILLION if arguments.billion else SMALL)
        probes = pairs(arguments.pairs)
        scorer = open_scorer(str(folder), threads=THREADS, device=arguments.device)
        ways: dict[str, Way] = {
            "lm_eval": harness(folder, arguments.device),
            "this app": lambda some: [bias_of(score) for score in scorer.score(some)],
        }
        theirs, ours = (Lane(name, in_turns(ask, probes), len(probes)) for name, ask in ways.items())
        race(theirs, ours)
    for lane in (theirs, ours):
        clock, processor = len(probes) / lane.spent.wall, len(probes) / lane.spent.cpu
        print(f"{lane.name:<10}{clock:8.1f} pairs a second, {processor:6.2f} a processor second")
    print(f"{len(probes)} pairs, largest difference of Bias_c {largest_difference(theirs.values, ours.values):.1e}")


if __name__ == "__main__":
    main()
