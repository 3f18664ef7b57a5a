"""A training run of a small model: steps, learning rate, what is measured and saved, the command.

A built-in model brings its task (`Text` of `training.demo_zh`, `demo_en`, `demo_en_causal`, `Examples` of `demo_nli`).
"""

import copy
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click
import torch
from torch import Tensor

from evenhand.core.resources import MODELS

log = logging.getLogger("training")


@dataclass(frozen=True)
class Plan:
    """Numbers of a run. The steps, not the clock, end it."""

    steps: int = 4000
    lr: float = 2e-3  # peak
    warmup: int = 60  # steps
    seed: int = 20240601
    width: int = 192
    layers: int = 4

    def rate_at(self, step: int) -> float:
        """Return the learning rate at *step*, from 1 up: it rises linearly, then falls linearly to zero."""
        rest = (self.steps - step + 1) / max(1, self.steps - self.warmup)
        return self.lr * min(step / self.warmup, rest)


P = TypeVar("P", bound=Plan, contravariant=True)


class Task(Protocol[P]):
    """What a run needs of its model: where it starts, batches, the loss, the held-out figures, the card's template."""

    card: str

    def start(self, plan: P) -> Any:
        """Return the model before its first step."""

    def optimizers(self, model: Any, plan: P) -> list[torch.optim.Optimizer]:
        """Return what changes the weights."""

    def batches(self, plan: P) -> Iterator[Any]:
        """Yield batches without end, the same for the same seed."""

    def loss(self, model: Any, batch: Any, plan: P, step: int) -> tuple[Tensor, int]:
        """Return the mean loss in nats and the number of tokens of a batch."""

    def held_out(self, model: Any) -> Mapping[str, object]:
        """Return figures of what was never trained on."""


class Muon(torch.optim.Optimizer):
    """Momentum whose update matrix is made orthogonal by five Newton-Schulz steps (Jordan et al. 2024), in fp32.

    torch.optim.Muon does the same in bfloat16, which this kind of processor
    emulates slowly. The update is scaled to the size of an Adam update
    (0.2 * sqrt(larger side), Liu et al. 2025), so one learning rate serves both.
    """

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.05
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One update of every matrix that has a gradient."""
        for group in self.param_groups:
            for weight in group["params"]:
                buffer = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                buffer.lerp_(weight.grad, 1 - group["momentum"])
                update = orthogonal(weight.grad.lerp(buffer, group["momentum"]))
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update, alpha=-group["lr"] * 0.2 * max(weight.shape) ** 0.5)


def orthogonal(matrix: Tensor) -> Tensor:
    """The nearest matrix with singular values about 1, by five steps of the quintic iteration."""
    tall = matrix.shape[0] > matrix.shape[1]
    x: Tensor = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + torch.addmm(gram, gram, gram, beta=-4.7750, alpha=2.0315) @ x
    return x.T if tall else x


def muon_and_adam(model: Any, plan: Plan, decay: float) -> list[torch.optim.Optimizer]:
    """Return Muon for the matrices of the layers, and AdamW for the rest; *decay*: of its matrices."""
    matrices = [p for name, p in model.named_parameters() if ".layer" in name and p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [
        Muon(matrices, lr=plan.lr),
        torch.optim.AdamW([p for p in rest if p.ndim == 2], lr=plan.lr, betas=(0.9, 0.98), weight_decay=decay),
        torch.optim.AdamW([p for p in rest if p.ndim != 2], lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def begin(plan: P, task: Task[P], folder: Path, resume: bool) -> tuple[Any, dict[str, Any]]:
    """Return the model to train and what is known of the run: at its start, or as last saved."""
    model = task.start(plan)
    facts: dict[str, Any] = {"steps": 0, "minutes": 0.0, "tokens": 0, "resumed_at": []}
    saved = folder / "training.json"
    if resume and saved.is_file():
        facts |= json.loads(saved.read_text(encoding="utf-8"))
        facts["resumed_at"].append(facts["steps"])
        model.load_state_dict(type(model).from_pretrained(folder, dtype=torch.float32).state_dict())
    return model, facts | {"plan": asdict(plan)}


def train(plan: P, task: Task[P], folder: Path, *, resume: bool = False) -> dict[str, Any]:
    """Train for the plan's steps, saving and measuring every 250; return what the card says.

    *resume* continues from the last saved weights of the same folder: batches and masks are those of an uninterrupted
    run, the optimizers start from zero.
    """
    model, facts = begin(plan, task, folder, resume)
    chain = task.optimizers(model, plan)
    last, spent, started, mean = facts["steps"], facts["minutes"], time.monotonic(), 0.0
    for step, batch in zip(range(1, plan.steps + 1), task.batches(plan), strict=False):
        if step <= last:
            continue
        loss, tokens = task.loss(model, batch, plan, step)
        loss.backward()  # type: ignore[no-untyped-call]
        update(chain, plan.rate_at(step))
        mean += (float(loss.detach()) - mean) / min(step - last, 100)
        facts |= {"steps": step, "tokens": facts["tokens"] + tokens}
        facts["minutes"] = spent + (time.monotonic() - started) / 60
        if step % 50 == 0:
            log.info("step %d loss %.3f, %.1f min", step, mean, facts["minutes"])
        if step % 250 == 0 or step == plan.steps:
            save(model, task, folder, facts)
            log.info("step %d held out %s", step, json.dumps(facts["held_out"]))
    return facts


def update(chain: list[torch.optim.Optimizer], rate: float) -> None:
    """Change the weights by their gradients, and clear these."""
    for optimizer in chain:
        for settings in optimizer.param_groups:
            settings["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()


def save(model: Any, task: Task[P], folder: Path, facts: dict[str, Any]) -> None:
    """Write the weights as fp16, the facts and the card; the figures are those of the stored weights."""
    half = copy.deepcopy(model).half()
    half.save_pretrained(folder)
    facts["held_out"] = task.held_out(half.float())
    facts["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    (folder / "training.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card(facts, task.card), encoding="utf-8")


def card(facts: dict[str, Any], template: str) -> str:
    """Return the model card: *template* with the figures that were measured."""
    held, plan = facts["held_out"], facts["plan"]
    parts = {name: part for name, part in held.items() if isinstance(part, dict)}
    rows = "\n".join(f"| {name} | {part['accuracy']:.1%} | {part['tokens']:,} |" for name, part in parts.items())
    stops = " and ".join(f"{step:,}" for step in facts["resumed_at"])
    resumed = f" The run was stopped at step {stops} and went on with `--resume`." if stops else ""
    return template.format(rows=rows, shape=f"{plan['layers']} layers, {plan['width']} wide", resumed=resumed, **facts)


def command(plan: type[P], task: Callable[..., Task[P]], name: str, threads: int = 2, **files: Path) -> click.Command:
    """Return the command that trains the built-in model *name*; *files*: its corpora, one option each."""
    there = click.Path(exists=True, path_type=Path)
    options: list[click.Parameter] = [
        *(click.Option([f"--{key}"], type=there, default=file, help="text to train on") for key, file in files.items()),
        click.Option(["--out"], type=click.Path(path_type=Path), default=MODELS / name),
        click.Option(["--steps"], type=int, default=plan().steps, show_default=True),
        click.Option(["--threads"], type=int, default=threads, show_default=True),
        click.Option(["--resume"], is_flag=True, help="continue from the last saved weights"),
    ]

    def trained(out: Path, steps: int, threads: int, resume: bool, **files: Path) -> None:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        torch.set_num_threads(threads)
        facts = train(plan(steps=steps), task(folder=out, **files), out, resume=resume)
        click.echo(json.dumps(facts, ensure_ascii=False))

    summary = f"Train {name} and write it to a folder in Hugging Face layout."
    return click.Command(name, callback=trained, params=options, help=summary)
