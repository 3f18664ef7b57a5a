"""Training a model further with transformers' Trainer, so that a killed run goes on and ends in the same numbers.

Which text comes at which step, and which of its tokens are masked, follows from the seed and the step; dropout draws
from torch's random state, which a checkpoint holds. So nothing depends on where a run was interrupted.
"""

import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    DataCollatorForLanguageModeling,
    EarlyStoppingCallback,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from evenhand.core.errors import N_, EvenhandError
from evenhand.core.models.checks import Task
from evenhand.core.models.tuning.held_out import held_out
from evenhand.core.models.tuning.settings import MASKED_SHARE, HeldOut, Tuning

WHOLE = "whole"  # the file that says that a checkpoint is complete
KEPT = 2  # checkpoints: the one before is there while the next is being written
LATEST = "checkpoint-"

DIVERGED = N_("Training diverged at step {step}: the loss is not a number. Use a smaller learning rate.")

OnStep = Callable[[int, int], None]  # steps done, of how many
OnLook = Callable[
    [int, float | None, HeldOut], None
]  # step, mean training loss since the look before, held-out figures


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training run did: how many steps, at which step its result was (None: the last), whether it went on."""

    steps: int
    best_step: int | None
    early: bool
    resumed_at: int


class _Texts(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """The texts of every step in their order: each comes once before any comes again, shuffled anew by the seed."""

    def __init__(self, rows: Sequence[list[int]], tuning: Tuning) -> None:
        self._rows, self._count, self._seed = rows, tuning.steps * tuning.batch, tuning.seed
        self._orders: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> dict[str, Any]:
        lap, place = divmod(number, len(self._rows))
        if lap not in self._orders:
            order = list(range(len(self._rows)))
            random.Random(f"{self._seed}/{lap}").shuffle(order)  # noqa: S311  order of texts, no secret
            self._orders = {lap: order} | {known: self._orders[known] for known in self._orders if known == lap - 1}
        return {"input_ids": self._rows[self._orders[lap][place]], "number": number}


class _Collator:
    """The collator of transformers, whose masks follow from the seed and the place of the batch in the run."""

    def __init__(self, tokenizer: Any, task: Task, seed: int) -> None:
        self._collate: Any = DataCollatorForLanguageModeling(
            tokenizer, mlm=task == "masked", mlm_probability=MASKED_SHARE
        )
        self._tokenizer, self._seed = tokenizer, seed

    def __call__(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        first = examples[0]["number"]
        self._collate.generator = torch.Generator().manual_seed((self._seed << 32) + first)
        lengths = [len(one["input_ids"]) for one in examples]
        longest = max(lengths)
        padding = self._tokenizer.pad_token_id
        rows = [
            {
                "input_ids": one["input_ids"] + [padding or 0] * (longest - length),
                "attention_mask": [1] * length + [0] * (longest - length),
            }
            for one, length in zip(examples, lengths, strict=True)
        ]
        while True:  # few short texts may have drawn no mask at all, and the mean loss over nothing is no number
            batch: dict[str, Any] = dict(self._collate([dict(row) for row in rows]))
            batch["labels"][batch["attention_mask"] == 0] = -100  # a causal tokenizer pads with a token of its own
            if bool((batch["labels"] != -100).any()):
                return batch


class _Run(Trainer):
    """The Trainer, which looks at held-out texts in a way of its own and takes the texts in their order."""

    look: Callable[[int], HeldOut]

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        texts: Any = self.train_dataset if train_dataset is None else train_dataset
        return torch.utils.data.SequentialSampler(texts)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        found = self.look(self.state.global_step)
        metrics = {"eval_loss": found.loss, "eval_accuracy": found.accuracy}
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


class _Follow(TrainerCallback):
    """Reports steps, marks whole checkpoints, and refuses a loss that is no number."""

    def __init__(self, on_step: OnStep | None) -> None:
        self._on_step = on_step
        self.losses: list[float] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._on_step is not None:
            self._on_step(state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        loss = (logs or {}).get("loss")
        if loss is None:
            return
        if not torch.isfinite(torch.tensor(float(loss))):
            raise EvenhandError(DIVERGED, step=state.global_step)
        self.losses.append(float(loss))

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        (Path(args.output_dir) / f"{LATEST}{state.global_step}" / WHOLE).touch()


def train(
    model: Any,
    tokenizer: Any,
    task: Task,
    texts: Sequence[list[int]],
    untouched: Sequence[list[int]],
    tuning: Tuning,
    work: Path,
    *,
    on_step: OnStep | None = None,
    on_look: OnLook | None = None,
) -> Trained:
    """Train *model* (its parameters that want gradients) on *texts*, token ids, in place; looks at *untouched* texts.

    *work*: the folder of checkpoints; a run with whole ones there goes on from the latest. fp32 on a processor, bf16 on
    an accelerator. Raises EvenhandError where the loss is no number.
    """
    follow = _Follow(on_step)
    run = _Run(
        model=model,
        args=_arguments(tuning, work, model),
        data_collator=_Collator(tokenizer, task, tuning.seed),
        train_dataset=_Texts(texts, tuning),
        eval_dataset=[],
        callbacks=[follow, *([EarlyStoppingCallback(tuning.patience)] if tuning.patience else [])],
    )

    run.remove_callback(PrinterCallback)

    def look(step: int) -> HeldOut:
        found = held_out(model, tokenizer, untouched, task)
        if on_look is not None:
            on_look(step, follow.losses[-1] if follow.losses else None, found)
        return found

    run.look = look
    checkpoint = latest_checkpoint(work)
    run.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    state = run.state
    best = state.best_model_checkpoint
    return Trained(
        state.global_step,
        int(Path(best).name.removeprefix(LATEST)) if best and tuning.patience else None,
        state.global_step < tuning.steps,
        int(checkpoint.name.removeprefix(LATEST)) if checkpoint else 0,
    )


def _arguments(tuning: Tuning, work: Path, model: Any) -> TrainingArguments:
    on_processor = next(model.parameters()).device.type == "cpu"
    return TrainingArguments(
        output_dir=str(work), max_steps=tuning.steps, per_device_train_batch_size=tuning.batch, seed=tuning.seed,
        learning_rate=tuning.rate, warmup_steps=tuning.warmup, weight_decay=tuning.decay, lr_scheduler_type="linear",
        optim="adamw_torch", eval_strategy="steps", eval_steps=tuning.every, save_strategy="steps",
        save_steps=tuning.every, save_total_limit=KEPT, load_best_model_at_end=bool(tuning.patience),
        metric_for_best_model="eval_loss", greater_is_better=False, logging_steps=min(10, tuning.every),
        restore_callback_states_from_checkpoint=bool(tuning.patience), disable_tqdm=True, report_to="none",
        use_cpu=on_processor, bf16=not on_processor, dataloader_pin_memory=not on_processor,
        remove_unused_columns=False, log_level="error", logging_nan_inf_filter=False,
    )  # fmt: skip


def latest_checkpoint(work: Path) -> Path | None:
    """The newest whole checkpoint in *work*; half-written ones are removed."""
    whole = []
    for folder in work.glob(f"{LATEST}*"):
        if (folder / WHOLE).is_file():
            whole.append(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return max(whole, key=lambda folder: int(folder.name.removeprefix(LATEST)), default=None)
