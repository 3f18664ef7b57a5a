"""What a grid takes: one worker and two on this machine, measured; 5 models x 4 interventions x 3 seeds, worked out.

    python -m benchmarks.grid_of_models TEXTS [--steps 60] [--seeds 2]

TEXTS: Chinese text, a text a line. The estimate takes the operations of a training step (`core.tune.estimate`) at a
share of the accelerator's peak that small models reach, and a fixed time a model for loading, looking at held-out text,
writing and measuring; both are printed, so that anybody can put in what they have.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from evenhand.core.before_after.grid import Grid, Intervention, run_grid
from evenhand.core.models.tuning.settings import Tuning
from evenhand.core.tune.estimate import training_seconds

MODELS = {  # parameters of five models that the papers use
    "bert-base-chinese": 102_000_000, "hfl/chinese-bert-wwm-ext": 102_000_000,
    "hfl/chinese-roberta-wwm-ext": 102_000_000, "hfl/chinese-electra-180g-base-generator": 22_000_000,
    "bert-base-multilingual-cased": 178_000_000,
}  # fmt: skip
PEAK, USED = 989e12, 0.25  # one H100 SXM, bf16 without sparsity (NVIDIA's data sheet); what a BERT-base reaches, about
FIXED_S = 40.0  # a model: load, look at text ten times, write 400 MB, measure 4,000 sentences
KINDS: tuple[Intervention, ...] = ("none", "cds", "cda", "dropout")


def measured(texts: Path, steps: int, seeds: int, threads: int) -> None:
    """Print how long the same grid takes with one worker and with two."""
    kinds: tuple[Intervention, ...] = ("none", "cds")
    tuning = Tuning(steps=steps, batch=16, length=64, rate=1e-4, every=steps, patience=0)
    grid = Grid(("demo-zh",), kinds, texts, seeds, tuning, threads=threads)
    took = {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            run_grid(grid, Path(folder) / "grid", Path(folder) / "grid.csv", ray="local", workers=workers)
            took[workers] = time.perf_counter() - began
            shutil.rmtree(Path(folder) / "grid", ignore_errors=True)
        print(f"{len(grid.cells)} models of demo-zh, {workers} workers of {threads} thread: {took[workers]:.0f} s")
    print(f"two workers against one: {took[1] / took[2]:.2f} times as fast (Ray's start included)")


def estimated() -> None:
    """Print the estimate for an accelerator."""
    tuning = Tuning(steps=1000, batch=32, length=128)
    cells = len(KINDS) * 3
    total = 0.0
    for name, numbers in MODELS.items():
        seconds = training_seconds(numbers, tuning, speed=PEAK, used=USED)
        total += cells * (seconds + FIXED_S)
        print(f"{name}: {seconds:.0f} s of training a model, {cells} models {cells * (seconds + FIXED_S) / 60:.0f} min")
    print(
        f"5 models x {len(KINDS)} interventions x 3 seeds, 1,000 steps of 32 x 128 tokens, on one accelerator of"
        f" {PEAK:.3g} operations a second used to {USED:.0%}, {FIXED_S:.0f} s beside the training: {total / 60:.0f} min"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("texts", type=Path, nargs="?")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if given.texts:
        measured(given.texts.resolve(), given.steps, given.seeds, given.threads)
    estimated()


if __name__ == "__main__":
    main()
