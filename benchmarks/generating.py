"""Tokens a second: `python -m benchmarks.generating --model demo-en-causal --texts 256 --threads 1 [--json]`.

The same contexts, settings (top-k 50, top-p 0.95, exactly 50 tokens) and batches go through this app and through
transformers' own `generate`. They take turns within one process, so that other load on the machine affects both alike.
--each: texts of each context; contexts that repeat are read once.
"""

import json
from collections.abc import Iterator

import torch

from benchmarks.measuring import Lane, options, race
from evenhand.core.generation.inputs import CHUNK, Filling, chunks, contexts_of, tasks
from evenhand.core.misgendering.template_files import built_in
from evenhand.core.models import Sampling
from evenhand.core.models.generating import Generator, Prompt, open_generator
from evenhand.core.types import JsonObject

Batches = list[list[Prompt]]


def by_transformers(generator: Generator, batches: Batches) -> Iterator[list[tuple[int, int]]]:
    """Yield the number of new tokens of each batch that transformers' `generate` writes."""
    tokenizer, model, how = generator.loaded.tokenizer, generator.loaded.model, generator.how
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    for number, prompts in enumerate(batches):
        read = tokenizer([prompt.context for prompt in prompts], return_tensors="pt", padding=True)
        torch.manual_seed(prompts[0].seed)
        made = model.generate(
            input_ids=read["input_ids"], attention_mask=read["attention_mask"], do_sample=True, top_k=how.top_k,
            top_p=how.top_p, min_new_tokens=how.tokens, max_new_tokens=how.tokens, pad_token_id=tokenizer.pad_token_id,
        )  # fmt: skip
        yield [(number, int((made.shape[1] - read["input_ids"].shape[1]) * len(prompts)))]


def by_this_app(generator: Generator, batches: Batches) -> Iterator[list[tuple[int, int]]]:
    """Yield the number of new tokens of each batch that this app writes."""
    for number, prompts in enumerate(batches):
        yield [(number, sum(text.tokens for text in generator.write(prompts)))]


def measure(model: str, texts: int, threads: int, each: int) -> JsonObject:
    """Return seconds and tokens of both ways."""
    torch.set_num_threads(threads)
    generator = open_generator(model, Sampling(), threads=threads, device="cpu")
    result = tasks(list(contexts_of(built_in(), Filling())), each)[:texts]
    batches = [[Prompt(task.context.text, task.seed) for task in chunk] for chunk in chunks(result)]
    lanes = []
    for name, way in (("this app", by_this_app), ("transformers generate", by_transformers)):
        list(way(generator, batches[:1]))  # the first call of either costs more
        lanes.append(Lane(name, way(generator, batches), len(batches)))
    race(*lanes)
    ways = {
        lane.name: {"tokens": sum(lane.values.values()), "seconds": lane.spent.wall, "cpu": lane.spent.cpu}
        for lane in lanes
    }
    for figures in ways.values():
        figures["tokens_a_second"] = round(figures["tokens"] / figures["seconds"], 1)
        figures["tokens_a_cpu_second"] = round(figures["tokens"] / figures["cpu"], 1)
    return {"model": model, "texts": len(result), "batch": CHUNK, "threads": threads, "each": each, "ways": ways}


def main() -> None:
    """Measure and print."""
    arguments = options(__doc__, model="demo-en-causal", texts=256, each=1, threads=1, json=False)
    values = measure(arguments.model, arguments.texts, arguments.threads, arguments.each)
    if arguments.json:
        print(json.dumps(values))
        return
    print(
        f"{values['model']}: {values['texts']} texts of 50 tokens, batches of {values['batch']}, "
        f"{values['threads']} threads"
    )
    for name, way in values["ways"].items():
        print(f"  {name}: {way['tokens_a_second']:,} tokens a second ({way['tokens_a_cpu_second']:,} a CPU second)")


if __name__ == "__main__":
    main()
