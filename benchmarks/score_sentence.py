"""Batched scoring against the plain forward pass: `python -m benchmarks.score_sentence [MODEL] [FILE] [COUNT]`.

COUNT (200) sentences, evenly spaced over a file in the layout of SlguSet.csv. Plain
means: the tokenizer reads the sentence with the mask tokens in it, one sentence
at a time, all logits at every place, full softmax. Prints the largest absolute
difference of a log-probability and of Bias_c, and sentences per second of
processor time on one thread, which a busy machine disturbs least.
"""

import csv
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from evenhand.core.models import open_scorer
from evenhand.core.resources import ROOT
from evenhand.core.sentence_bias.bias import bias
from evenhand.core.text.keywords import probe, repair
from evenhand.core.types import MaskedSentence

DEV = ROOT.parent / "shared" / "data" / "slguset" / "SlguSet_dev.csv"


def read_probes(path: Path, count: int) -> list[MaskedSentence]:
    """Sentences evenly spaced over the file, with their spans repaired (SPEC 1.5)."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    probes = []
    for row in rows[:: max(1, len(rows) // count)][:count]:
        start, end = json.loads(row["关键词位置"])
        candidate, _ = repair(row["句子"], start, end, row["原始关键词"], row["对立关键词"])
        probes.append(probe(candidate))
    return probes


@torch.inference_mode()
def plain(tokenizer: Any, model: Any, asked: MaskedSentence) -> list[float]:
    """Log-probability of each option, the textbook way."""
    masked = asked.text[: asked.start] + tokenizer.mask_token * len(asked.options[0]) + asked.text[asked.end :]
    ids = torch.tensor([tokenizer(masked).input_ids])
    logprobs = model(input_ids=ids).logits[0].log_softmax(-1)
    places = (ids[0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    options = [tokenizer.convert_tokens_to_ids(list(option)) for option in asked.options]
    return [sum(float(logprobs[place, i]) for place, i in zip(places, ids, strict=True)) for ids in options]


def main() -> None:
    """Print the difference and the rates."""
    model = sys.argv[1] if len(sys.argv) > 1 else "demo-zh"
    probes = read_probes(
        Path(sys.argv[2]) if len(sys.argv) > 2 else DEV, int(sys.argv[3]) if len(sys.argv) > 3 else 200
    )
    scorer = open_scorer(model, threads=1)
    scorer.score(probes[:8])
    started = time.process_time()
    batched = scorer.score(probes)
    spent = time.process_time() - started
    started = time.process_time()
    one_by_one = [plain(scorer.loaded.tokenizer, scorer.loaded.model, asked) for asked in probes]
    spent_plain = time.process_time() - started
    pairs = [(score.logprobs, other) for score, other in zip(batched, one_by_one, strict=True)]
    defined = [(found, other) for found, other in pairs if None not in found]
    worst = max(abs(a - b) for found, other in defined for a, b in zip(found, other, strict=True) if a is not None)
    worst_bias = max(abs((bias(*found) or 0) - (bias(*other) or 0)) for found, other in defined)
    print(f"{scorer.signature}: {len(probes)} sentences, {len(probes) - len(defined)} undefined")
    print(f"largest difference: {worst:.2e} (natural log), {worst_bias:.2e} (Bias_c, log10)")
    print(f"batched {len(probes) / spent:.0f}, plain {len(probes) / spent_plain:.0f} sentences per processor second")


if __name__ == "__main__":
    main()
