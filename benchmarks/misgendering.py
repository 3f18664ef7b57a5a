"""What sharing beginnings saves in misgendering by probability: tokens read, processor time; and that nothing changes.

`python -m benchmarks.misgendering [--model demo-en-causal] [--instances 200]`: the built-in set, one thread, no cache.
"""

import time

import click

from evenhand.core.misgendering.instances import instances
from evenhand.core.misgendering.probability import judge
from evenhand.core.misgendering.template_files import built_in
from evenhand.core.models.perplexity import open_perplexity


@click.command()
@click.option("--model", default="demo-en-causal", show_default=True)
@click.option("--instances", "count", default=200, show_default=True)
def main(model: str, count: int) -> None:
    """Print both ways and the largest difference between them."""
    scorer = open_perplexity(model, threads=1)
    some = instances(built_in(), limit=count)
    list(judge(some[:20], scorer, scorer.read))  # warm up
    values, seconds, tokens = [], [], []
    for shared in (True, False):
        scorer.continuations.shared = shared
        scorer.fed, began = 0, time.process_time()
        values.append([value for one in judge(some, scorer, scorer.read) for value in one.nll])
        seconds.append(time.process_time() - began)
        tokens.append(scorer.fed)
        print(f"{'shared' if shared else 'apart':<7} {scorer.fed:>9,} tokens {seconds[-1]:>8.2f} s")
    largest = max(abs(a - b) for a, b in zip(*values, strict=True))
    print(f"factor  {tokens[1] / tokens[0]:>9.2f} tokens {seconds[1] / seconds[0]:>8.2f} in time")
    print(f"largest difference {largest:.1e} nats")
    print(f"{scorer.signature}; {len(some)} instances, 4 texts each")


if __name__ == "__main__":
    main()
