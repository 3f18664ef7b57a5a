"""How fast, how exact: `python -m benchmarks.scoring --sentences 1000 --threads 2 --file SlguSet_dev.csv [--json]`.

A BERT of the size of bert-base-chinese with random weights, and the same sentences through: the papers' loop (one
sentence at a time), the fill-mask pipeline at batch 32 with sentences grouped by pair, minicons where it is installed
(compared on words of one mask, where it asks the same), this app's engine; and the bare matrix products of the model's
shapes. The ways take turns, always the one that is furthest behind, so that whatever else the machine does hits all
alike. `wall` is what a person waits; `cpu` is processor time, which a busy machine disturbs least. Then: equality of
Bias_c, bf16 on a part (--bf16: so many sentences, 0: none), and where the time goes with --profile ("": leave it out).
--device: auto, cpu or cuda for all ways, not for the profile.
"""

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.measuring import Lane, largest_difference, options, race
from benchmarks.scoring_ways import (
    CHUNK,
    CHUNK_OF_CARD,
    MatrixProducts,
    Plain,
    base_sized,
    engine,
    fill_mask_pipeline,
    has_minicons,
    minicons_cloze,
    operations,
    papers_loop,
    read_probes,
)
from evenhand.core.models import open_scorer
from evenhand.core.models.forward import budget_on
from evenhand.core.models.loaded import chosen
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.types import MaskedSentence
from training.zh_corpus import SENTENCES

PRODUCTS = 12  # how often the matrix products are run, spread over the whole time


def warm_up(plain: Plain, scorer: MaskedScorer, probes: Sequence[MaskedSentence]) -> None:
    """The first call of everything is slow."""
    for _ in papers_loop(plain, probes[:2]):
        pass
    scorer.score(probes[:8])


def compare(folder: Path, probes: list[MaskedSentence], device: str, *, with_minicons: bool) -> dict[str, Any]:
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
    asked = list(dict.fromkeys((one.ids, one.slots) for one in scorer.reader.read_all(probes) if one.slots))
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


def _row(lane: Lane, loop: Lane, comparable: set[int] | None) -> dict[str, Any]:
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


def try_bf16(folder: Path, probes: list[MaskedSentence], device: str) -> dict[str, Any]:
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


def profile(model: str, probes: list[MaskedSentence]) -> dict[str, Any]:
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


def show(report: dict[str, Any]) -> None:
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
    asked = options(
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
    torch.set_num_threads(asked.threads)
    device = str(chosen(asked.device))
    probes = read_probes(asked.file, asked.sentences)
    report: dict[str, Any] = {"torch": torch.__version__, "threads": asked.threads, "file": asked.file.name}
    report["device"] = torch.cuda.get_device_name(device) if device.startswith("cuda") else device
    with tempfile.TemporaryDirectory() as name:
        base_sized(Path(name))
        report["speed"] = compare(Path(name), probes, device, with_minicons=has_minicons() and not asked.no_minicons)
        if asked.bf16:
            some = probes[:: max(1, len(probes) // asked.bf16)][: asked.bf16]
            report["bf16"] = try_bf16(Path(name), some, device)
    if device.startswith("cuda"):
        report["gpu_memory_mb"] = torch.cuda.max_memory_allocated() / 1e6
    if asked.profile:
        report["profile"] = profile(asked.profile, probes)
    print(json.dumps(report, ensure_ascii=False, indent=1)) if asked.json else show(report)


if __name__ == "__main__":
    main()
