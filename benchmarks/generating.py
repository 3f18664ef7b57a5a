"""Tokens a second: `python -m benchmarks.generating --model demo-en-causal --texts 256 --threads 1 [--json]`.

The same contexts, settings (top-k 50, top-p 0.95, exactly 50 tokens) and batches through this app's way and through
transformers' own `generate`, in turns within one process, so that whatever else the machine does hits both alike.
"""

import argparse
import json
import time
from typing import Any

import torch

from evenhand.core.generation.contexts import CHUNK, chunks, tasks
from evenhand.core.generation.inputs import contexts_of
from evenhand.core.misgendering.template_files import built_in
from evenhand.core.models.generating import Generator, Prompt, open_generator
from evenhand.core.models.sampling import Sampling


def by_transformers(generator: Generator, prompts: list[Prompt]) -> int:
    """transformers' `generate` on one batch; the number of new tokens."""
    tokenizer, model, how = generator.loaded.tokenizer, generator.loaded.model, generator.how
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    read = tokenizer([prompt.context for prompt in prompts], return_tensors="pt", padding=True)
    torch.manual_seed(prompts[0].seed)
    made = model.generate(
        input_ids=read["input_ids"], attention_mask=read["attention_mask"], do_sample=True, top_k=how.top_k,
        top_p=how.top_p, min_new_tokens=how.tokens, max_new_tokens=how.tokens, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    return int((made.shape[1] - read["input_ids"].shape[1]) * len(prompts))


def by_this_app(generator: Generator, prompts: list[Prompt]) -> int:
    """This app's way on the same batch."""
    return sum(text.tokens for text in generator.write(prompts))


def measure(model: str, texts: int, threads: int, each: int) -> dict[str, Any]:
    """Seconds and tokens of both ways, batch by batch in turns."""
    torch.set_num_threads(threads)
    generator = open_generator(model, Sampling(), threads=threads, device="cpu")
    found = tasks(list(contexts_of(built_in())), each)[:texts]
    batches = [[Prompt(task.context.text, task.seed) for task in chunk] for chunk in chunks(found)]
    ways = {"this app": by_this_app, "transformers generate": by_transformers}
    for way in ways.values():
        way(generator, batches[0])  # the first call of either costs more
    totals = {name: {"tokens": 0, "seconds": 0.0, "cpu": 0.0} for name in ways}
    for number, batch in enumerate(batches):
        for name in list(ways)[:: 1 if number % 2 else -1]:
            wall, cpu = time.perf_counter(), time.process_time()
            totals[name]["tokens"] += ways[name](generator, batch)
            totals[name]["seconds"] += time.perf_counter() - wall
            totals[name]["cpu"] += time.process_time() - cpu
    for one in totals.values():
        one["tokens_a_second"] = round(one["tokens"] / one["seconds"], 1)
        one["tokens_a_cpu_second"] = round(one["tokens"] / one["cpu"], 1)
    return {"model": model, "texts": len(found), "batch": CHUNK, "threads": threads, "each": each, "ways": totals}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="demo-en-causal")
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--each", type=int, default=1, help="texts of each context: contexts that repeat are read once")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(asked.model, asked.texts, asked.threads, asked.each)
    if asked.json:
        print(json.dumps(found))
        return
    print(
        f"{found['model']}: {found['texts']} texts of 50 tokens, batches of {found['batch']}, "
        f"{found['threads']} threads"
    )
    for name, one in found["ways"].items():
        print(f"  {name}: {one['tokens_a_second']:,} tokens a second ({one['tokens_a_cpu_second']:,} a CPU second)")


if __name__ == "__main__":
    main()
