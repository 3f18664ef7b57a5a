"""How fast, how exact: `python -m benchmarks.scoring --sentences 1000 --threads 2 --file SlguSet_dev.csv [--json]`.

A BERT of the size of bert-base-chinese with random weights, and the same sentences through: the papers' loop (one
sentence at a time), the fill-mask pipeline at batch 32 with sentences grouped by pair, minicons where it is installed
(compared on words of one mask, where it asks the same), this app's engine; and the bare matrix products of the model's
shapes. The ways take turns, always the one that is furthest behind, so that other load on the machine affects all
alike. `wall` is what a person waits; `cpu` is processor time, which a busy machine disturbs least. Then: equality of
Bias_c, bf16 on a part (--bf16: so many sentences, 0: none), and where the time goes with --profile ("": leave it out).
--device: auto, cpu or cuda for all ways, not for the profile.
"""

import importlib.util
import json
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast, pipeline  # type: ignore[attr-defined]

from benchmarks.measuring import Lane, largest_difference, options, race
from evenhand.core.models import Precision, open_scorer
from evenhand.core.models.forward import budget_on
from evenhand.core.models.loaded import DTYPES, chosen
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.resources import MODELS
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.text.keywords import probe as probe_of
from evenhand.core.text.keywords import repair
from evenhand.core.types import JsonObject, MaskedSentence, Scorer
from training.corpora import SENTENCES, released_rows

VOCABULARY = 21_128  # as bert-base-chinese
BATCH = 32
CHUNK, CHUNK_OF_CARD = 250, 1_000  # sentences that the engine gets at once, so that the others can run in between
LN10 = math.log(10)

Finished = Iterator[list[tuple[int, float | None]]]


def read_probes(path: Path, count: int) -> list[MaskedSentence]:
    """Return sentences evenly spaced over the file, with their spans repaired."""
    rows, probes = released_rows(path), []
    for row in rows[:: max(1, len(rows) // count)][:count]:
        start, end = json.loads(row["关键词位置"])
        candidate, _ = repair(row["句子"], start, end, row["原始关键词"], row["对立关键词"])
        probes.append(probe_of(candidate))
    return probes


def base_sized(folder: Path) -> None:
    """Write a BERT of the size of bert-base-chinese with random weights, and a tokenizer of demo-zh's characters.

    Weights are drawn twice as wide as usual, so that Bias_c spreads as that of a trained model does.
    """
    words = tokens()
    words += [f"[unused{i}]" for i in range(VOCABULARY - len(words))]
    BertTokenizerFast(vocab={word: i for i, word in enumerate(words)}).save_pretrained(folder)
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig(vocab_size=VOCABULARY, initializer_range=0.04)).save_pretrained(folder)


def tokens() -> list[str]:
    """The vocabulary of demo-zh in the order of its ids."""
    vocabulary = BertTokenizerFast.from_pretrained(MODELS / "demo-zh").get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


@dataclass(frozen=True, slots=True)
class Plain:
    """A model and its tokenizer as anyone loads them."""

    model: Any
    tokenizer: Any

    @classmethod
    def load(cls, folder: Path, device: str = "cpu") -> "Plain":
        """With SDPA, as transformers does by default."""
        model: Any = BertForMaskedLM.from_pretrained(folder, attn_implementation="sdpa").eval().to(device)
        return cls(model.requires_grad_(False), BertTokenizerFast.from_pretrained(folder))

    def masked(self, probe: MaskedSentence) -> str:
        """The text with one mask per character of the slot."""
        masks = self.tokenizer.mask_token * len(probe.options[0])
        return probe.text[: probe.start] + masks + probe.text[probe.end :]

    def ids(self, probe: MaskedSentence) -> list[list[int]]:
        """Per option, the ids of its characters."""
        return [self.tokenizer.convert_tokens_to_ids(list(option)) for option in probe.options]


@torch.inference_mode()
def papers_loop(plain: Plain, probes: Sequence[MaskedSentence]) -> Finished:
    """One sentence at a time, logits of every token, softmax at the masks, product of the characters."""
    for number, probe in enumerate(probes):
        inputs = plain.tokenizer(plain.masked(probe), return_tensors="pt").to(plain.model.device)
        logits = plain.model(**inputs).logits[0]
        places = (inputs.input_ids[0] == plain.tokenizer.mask_token_id).nonzero()[:, 0]
        found = torch.log_softmax(logits[places], dim=-1)
        male, female = (float(found[range(len(ids)), ids].sum()) for ids in plain.ids(probe))
        yield [(number, (male - female) / LN10)]


def fill_mask_pipeline(plain: Plain, probes: Sequence[MaskedSentence]) -> Finished:
    """`pipeline("fill-mask")` at batch 32; its targets are one set per call, so sentences are grouped by pair.

    Each target must be one token, so the characters are passed, and the probabilities of two masks multiplied.
    """
    ask = pipeline("fill-mask", model=plain.model, tokenizer=plain.tokenizer, device=plain.model.device)
    by_pair: dict[tuple[str, ...], list[int]] = {}
    for number, probe in enumerate(probes):
        by_pair.setdefault(probe.options, []).append(number)
    for words, numbers in by_pair.items():
        targets = sorted(set("".join(words)))
        for start in range(0, len(numbers), BATCH):
            group = numbers[start : start + BATCH]
            texts = [plain.masked(probes[i]) for i in group]
            answers = ask(texts, targets=targets, top_k=len(targets), batch_size=BATCH)
            answers = answers if len(group) > 1 else [answers]  # a list of one comes back without its list
            yield [(i, _product(plain, probes[i], answer)) for i, answer in zip(group, answers, strict=True)]


def _product(plain: Plain, probe: MaskedSentence, answer: Any) -> float:
    masks = answer if isinstance(answer[0], list) else [answer]
    tables = [{entry["token"]: math.log(entry["score"]) for entry in mask} for mask in masks]
    male, female = (sum(table[i] for table, i in zip(tables, ids, strict=True)) for ids in plain.ids(probe))
    return (male - female) / LN10


def minicons_cloze(plain: Plain, probes: Sequence[MaskedSentence]) -> Finished:
    """Score with minicons, which needs the word in the sentence: two passes per pair, characters masked one by one.

    A word of two characters is then another quantity than with two masks. A word that occurs twice shifts the
    answers of the sentences after it; such sentences are left out.
    """
    from minicons.scorer import MaskedLMScorer

    ask = MaskedLMScorer(plain.model, str(plain.model.device), tokenizer=plain.tokenizer)
    once = [i for i, probe in enumerate(probes) if _once(plain, probe)]
    for start in range(0, len(once), BATCH):
        group = once[start : start + BATCH]
        sides = []
        for side in (0, 1):
            pairs = [(_with_option(probes[i], probes[i].options[side]), probes[i].options[side]) for i in group]
            sides.append([float(value) for value in ask.cloze(pairs, PLL_metric="original")])
        yield [(i, (male - female) / LN10) for i, male, female in zip(group, *sides, strict=True)]


def _with_option(probe: MaskedSentence, option: str) -> str:
    return probe.text[: probe.start] + option + probe.text[probe.end :]


def _once(plain: Plain, probe: MaskedSentence) -> bool:
    """Return True if each word occurs exactly once in its sentence, in tokens, and not at the very end."""
    for option, wanted in zip(probe.options, plain.ids(probe), strict=True):
        ids = plain.tokenizer(_with_option(probe, option)).input_ids
        if sum(ids[i : i + len(wanted)] == wanted for i in range(len(ids) - len(wanted))) != 1:
            return False
    return True


def has_minicons() -> bool:
    """Return True if minicons is installed, which the app does not require."""
    return importlib.util.find_spec("minicons") is not None


def engine(scorer: Scorer, probes: Sequence[MaskedSentence], chunk: int = CHUNK) -> Finished:
    """This app's scorer, fed as a run feeds it: like lengths together."""
    order = sorted(range(len(probes)), key=lambda i: len(probes[i].text))
    for start in range(0, len(order), chunk):
        group = order[start : start + chunk]
        scores = scorer.score([probes[i] for i in group])
        yield [(i, bias_of(score)) for i, score in zip(group, scores, strict=True)]


@dataclass(slots=True)
class MatrixProducts:
    """The matrix products of one layer at the tokens of a batch, nothing else: what the machine can do so."""

    tokens: int = 2048
    device: str = "cpu"
    precision: Precision = "fp32"
    done: float = 0.0  # floating-point operations

    @torch.inference_mode()
    def run(self, config: Any, times: int) -> Finished:
        """Query, key and value as one product, output, up, down; *times* times."""
        wide, width = config.intermediate_size, config.hidden_size
        shapes = [(width, 3 * width), (width, width), (width, wide), (wide, width)]
        like: Any = {"device": self.device, "dtype": DTYPES[self.precision]}
        given = [
            (torch.randn(self.tokens, k, **like), torch.randn(n, k, **like), torch.empty(self.tokens, n, **like))
            for k, n in shapes
        ]
        for number in range(times):
            for rows, weight, out in given:
                torch.mm(rows, weight.t(), out=out)
                self.done += 2.0 * self.tokens * weight.numel()
            yield [(number, None)]


def operations(config: Any, lengths: Sequence[int], masks: Sequence[int]) -> float:
    """Floating-point operations that the questions need: matrix products and attention, the last layer at masks only.

    2 per multiplication and addition; *lengths* in tokens with [CLS] and [SEP].
    """
    width, wide, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    layer = 2 * (4 * width * width + 2 * width * wide)  # per token
    total = 0.0
    for length, places in zip(lengths, masks, strict=True):
        total += (layers - 1) * (length * layer + 4 * length * length * width)
        total += length * 4 * width * width + places * (layer - 4 * width * width + 4 * length * width)
        total += places * 2 * (width * width + width * config.vocab_size)
    return total


PRODUCTS = 12  # how often the matrix products are run, spread over the whole time


def warm_up(plain: Plain, scorer: MaskedScorer, probes: Sequence[MaskedSentence]) -> None:
    """The first call of everything is slow."""
    for _ in papers_loop(plain, probes[:2]):
        pass
    scorer.score(probes[:8])


def compare(folder: Path, probes: list[MaskedSentence], device: str, *, with_minicons: bool) -> JsonObject:
    """Rates, share of the matrix-product rate, equality."""
    plain, scorer = Plain.load(folder, device), open_scorer(str(folder), device=device)
    assert isinstance(scorer, MaskedScorer)
    warm_up(plain, scorer, probes)
    products, count = MatrixProducts(budget_on(torch.device(device)), device), len(probes)
    chunk = CHUNK if device == "cpu" else CHUNK_OF_CARD
    loop = Lane("papers' loop", papers_loop(plain, probes), count)
    pipe = Lane("fill-mask pipeline, batch 32", fill_mask_pipeline(plain, probes), count)
    mine = Lane("this engine", engine(scorer, probes, chunk), count)
    bare = Lane("matrix products", products.run(plain.model.config, PRODUCTS), PRODUCTS)
    other = [Lane("minicons, two passes", minicons_cloze(plain, probes), count)] if with_minicons else []
    race(loop, pipe, *other, mine, bare)
    asked = list(
        dict.fromkeys((prepared.ids, prepared.slots) for prepared in scorer.reader.read_all(probes) if prepared.slots)
    )
    needed = operations(plain.model.config, [len(ids) for ids, _ in asked], [len(slots) for _, slots in asked])
    one_mask = {i for i, probe in enumerate(probes) if len(probe.options[0]) == 1}
    rows = [_row(lane, loop, one_mask if lane in other else None) for lane in (loop, pipe, *other, mine)]
    return {
        "sentences": count,
        "distinct": len(asked),
        "tokens": sum(len(ids) for ids, _ in asked),
        "undefined": sum(value is None for value in mine.values.values()),
        "ways": rows,
        "times_pipeline_wall": pipe.spent.wall / mine.spent.wall,
        "times_pipeline_cpu": pipe.spent.cpu / mine.spent.cpu,
        "product_gflops_wall": products.done / bare.spent.wall / 1e9,
        "product_gflops_cpu": products.done / bare.spent.cpu / 1e9,
        "engine_gflops_wall": needed / mine.spent.wall / 1e9,
        "engine_gflops_cpu": needed / mine.spent.cpu / 1e9,
    }


def _row(lane: Lane, loop: Lane, comparable: set[int] | None) -> JsonObject:
    """*comparable*: the sentences for which the way asks the same as the loop, where it does not for all."""
    done = len(lane.values)
    same = {i: value for i, value in lane.values.items() if comparable is None or i in comparable}
    return {
        "way": lane.name,
        "sentences": done,
        "per_second": done / lane.spent.wall,
        "per_cpu_second": done / lane.spent.cpu,
        "times_loop_wall": (done / lane.spent.wall) / (len(loop.values) / loop.spent.wall),
        "times_loop_cpu": (done / lane.spent.cpu) / (len(loop.values) / loop.spent.cpu),
        "largest_difference": largest_difference(same, loop.values),
        "compared": len(same),
    }


def try_bf16(folder: Path, probes: list[MaskedSentence], device: str) -> JsonObject:
    """Speed against fp32, and how far Bias_c moves."""
    exact = open_scorer(str(folder), device=device)
    rough = open_scorer(str(folder), precision="bf16", device=device)
    assert isinstance(exact, MaskedScorer)
    products = MatrixProducts(budget_on(torch.device(device)), device, "bf16")
    chunk = CHUNK if device == "cpu" else CHUNK_OF_CARD
    fp32, bf16 = (Lane("", engine(scorer, probes, chunk), len(probes)) for scorer in (exact, rough))
    bare = Lane("matrix products", products.run(exact.loaded.model.config, PRODUCTS), PRODUCTS)
    race(fp32, bf16, bare)
    return {
        "sentences": len(probes),
        "fp32_per_cpu_second": len(probes) / fp32.spent.cpu,
        "bf16_per_cpu_second": len(probes) / bf16.spent.cpu,
        "fp32_per_second": len(probes) / fp32.spent.wall,
        "bf16_per_second": len(probes) / bf16.spent.wall,
        "product_gflops_bf16": products.done / bare.spent.wall / 1e9,
        "largest_difference": largest_difference(fp32.values, bf16.values),
        "signs_that_differ": sum((value or 0.0) * (bf16.values[i] or 0.0) < 0 for i, value in fp32.values.items()),
    }


def profile(model: str, probes: list[MaskedSentence]) -> JsonObject:
    """Share of processor time per step of the engine."""
    scorer = open_scorer(model, device="cpu")
    assert isinstance(scorer, MaskedScorer)
    scorer.score(probes[:50])
    spent = {"tokens": 0.0, "head": 0.0, "model": 0.0}

    def timed(name: str, call: Any) -> Any:
        def run(*given: Any) -> Any:
            began = time.process_time()
            try:
                return call(*given)
            finally:
                spent[name] += time.process_time() - began

        return run

    forward: Any = scorer.loaded.forward
    parts = forward.parts
    object.__setattr__(parts, "head", timed("head", parts.head))
    scorer.reader.read_all = timed("tokens", scorer.reader.read_all)  # type: ignore[method-assign]
    outer = timed("model", forward)
    outer.batches = forward.batches
    vars(scorer.loaded)["forward"] = outer
    began = time.process_time()
    scorer.score(probes)
    total = time.process_time() - began
    spent["model"] -= spent["head"]
    spent["the rest"] = total - sum(spent.values())
    return {
        "model": model,
        "sentences": len(probes),
        "per_cpu_second": len(probes) / total,
        "shares": {name: value / total for name, value in spent.items()},
    }


def show(report: JsonObject) -> None:
    """The report as text."""
    speed = report["speed"]
    print(f"torch {report['torch']}, {report['threads']} thread(s), {report['device']}, {report['file']}")
    print(f"{speed['sentences']} sentences, {speed['distinct']} distinct questions, {speed['tokens']} tokens\n")
    heads = ("sentences/s", "per cpu s", "x loop", "(cpu)", "largest difference", "of")
    print(f"{'way':30} {heads[0]:>12} {heads[1]:>10} {heads[2]:>7} {heads[3]:>7} {heads[4]:>19} {heads[5]:>6}")
    for row in speed["ways"]:
        print(
            f"{row['way']:30} {row['per_second']:12.1f} {row['per_cpu_second']:10.1f} {row['times_loop_wall']:7.2f} "
            f"{row['times_loop_cpu']:7.2f} {row['largest_difference']:19.1e} {row['compared']:6}"
        )
    wall, cpu = (speed[f"engine_gflops_{kind}"] / speed[f"product_gflops_{kind}"] for kind in ("wall", "cpu"))
    print(f"\nengine against the pipeline: {speed['times_pipeline_wall']:.2f} ({speed['times_pipeline_cpu']:.2f} cpu)")
    mine, bare = speed["engine_gflops_wall"], speed["product_gflops_wall"]
    print(f"engine {mine:.0f} of {bare:.0f} GFLOP/s of bare matrix products: {wall:.0%} ({cpu:.0%} cpu)")
    for key in ("bf16", "gpu_memory_mb", "profile"):
        if key in report:
            print(f"\n{key}: " + json.dumps(report[key], ensure_ascii=False))


def main() -> None:
    """Measure and print."""
    arguments = options(
        __doc__,
        sentences=1000,
        threads=2,
        file=SENTENCES,
        bf16=100,
        no_minicons=False,
        profile="demo-zh",
        device="cpu",
        json=False,
    )
    torch.set_num_threads(arguments.threads)
    device = str(chosen(arguments.device))
    probes = read_probes(arguments.file, arguments.sentences)
    report: JsonObject = {"torch": torch.__version__, "threads": arguments.threads, "file": arguments.file.name}
    report["device"] = torch.cuda.get_device_name(device) if device.startswith("cuda") else device
    with tempfile.TemporaryDirectory() as name:
        base_sized(Path(name))
        report["speed"] = compare(
            Path(name), probes, device, with_minicons=has_minicons() and not arguments.no_minicons
        )
        if arguments.bf16:
            some = probes[:: max(1, len(probes) // arguments.bf16)][: arguments.bf16]
            report["bf16"] = try_bf16(Path(name), some, device)
    if device.startswith("cuda"):
        report["gpu_memory_mb"] = torch.cuda.max_memory_allocated() / 1e6
    if arguments.profile:
        report["profile"] = profile(arguments.profile, probes)
    print(json.dumps(report, ensure_ascii=False, indent=1)) if arguments.json else show(report)


if __name__ == "__main__":
    main()
